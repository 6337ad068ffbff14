import { Duration, Effect, FiberSet, Latch } from "effect"

interface Slots<Item> {
  readonly take: () => boolean
  readonly free: () => void
  readonly start: (item: Item) => void
}

/**
 * Hands items to a worker of the same process that are leased to it from the beginning, so that it need not find them. A
 * slot of the worker is reserved before the item exists.
 */
export class HandOver<Item> {
  #slots: Slots<Item> | undefined

  /** Reserves a slot, which `start` uses or `cancel` frees. Undefined if no worker runs, or it has none free. */
  reserve(): Reservation<Item> | undefined {
    const slots = this.#slots
    if (slots === undefined || !slots.take()) return undefined
    return {
      start: (item) => {
        const isOpen = this.#slots === slots
        if (isOpen) slots.start(item)
        return isOpen
      },
      cancel: slots.free
    }
  }

  /** Begins to pass items to a worker. */
  open(slots: Slots<Item>): void {
    this.#slots = slots
  }

  close(): void {
    this.#slots = undefined
  }
}

export interface Reservation<Item> {
  /** Handles an item in the slot. Returns false if the worker has ended meanwhile. */
  readonly start: (item: Item) => boolean
  readonly cancel: () => void
}

/** Time before the next poll when more items may be due. */
const PAUSE = "10 millis"

/** A kind of work that any server can do. */
export interface Work<Item, E, R> {
  /** Names the work in log messages, for example `inbound mail`. */
  readonly name: string
  /** Maximum number of items handled concurrently. */
  readonly concurrency: number
  /** Time between polls while nothing is due, and after a failed poll. */
  readonly interval: Duration.Input
  /** Ends the wait for the next poll early. */
  readonly wake?: Effect.Effect<void>
  /** Passes items to this worker that are leased to it already. */
  readonly handOver?: HandOver<Item>
  /** Leases up to `limit` due items to this worker. */
  readonly take: (limit: number) => Effect.Effect<ReadonlyArray<Item>, never, R>
  /**
   * Handles one item. A defect is logged and occupies its slot for one interval; the item is due again when its lease
   * expires.
   */
  readonly handle: (item: Item) => Effect.Effect<void, E, R>
  /** Handles an expected failure of `handle`. */
  readonly failed: (item: Item, error: E) => Effect.Effect<void, never, R>
}

/** Takes due items and handles them for as long as it runs. Interrupts the items in progress when it ends. */
export const run = <Item, E, R>(work: Work<Item, E, R>): Effect.Effect<never, never, R> =>
  Effect.gen(function* () {
    const { concurrency, failed, handle, handOver, interval, name, take, wake = Effect.never } = work
    const fibers = yield* FiberSet.make<void>()
    const fork = yield* FiberSet.runtime(fibers)<R>()
    const freed = Latch.makeUnsafe()
    let free = concurrency
    const release = () => {
      free++
      freed.openUnsafe()
    }

    /** Handles an item in a slot that is taken. */
    const start = (item: Item): void => {
      handle(item).pipe(
        Effect.catch((error) => failed(item, error)),
        Effect.catchCause((cause) =>
          Effect.andThen(Effect.logError(`${name} failed; retrying`, cause), Effect.sleep(interval))
        ),
        Effect.ensuring(Effect.sync(release)),
        fork
      )
    }

    if (handOver !== undefined) {
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          handOver.open({
            take: () => {
              if (free === 0) return false
              free--
              return true
            },
            free: release,
            start
          })
        ),
        () => Effect.sync(() => handOver.close())
      )
    }

    /** Returns whether more items may be due. */
    const poll = Effect.gen(function* () {
      if (free === 0) {
        freed.closeUnsafe()
        yield* freed.await
      }
      const limit = free
      // Uninterruptible, so that no item is leased and then not started.
      return yield* Effect.uninterruptible(
        Effect.map(take(limit), (items) => {
          free -= items.length
          for (const item of items) start(item)
          return items.length >= limit
        })
      )
    })

    return yield* poll.pipe(
      // Catches every cause, including the interruption of a connection: only the end of its fiber stops this loop.
      Effect.catchCause((cause) => Effect.as(Effect.logError(`polling for ${name} failed; retrying`, cause), false)),
      Effect.flatMap((more) => (more ? Effect.sleep(PAUSE) : Effect.raceFirst(Effect.sleep(interval), wake))),
      Effect.forever
    )
  }).pipe(Effect.scoped)

export interface Lease {
  readonly millis: number
  /** Extends the lease to `millis` from now. Returns false if it was lost: another worker may have the item. */
  readonly renew: Effect.Effect<boolean>
  /**
   * Runs when the lease is lost, and ends the work. By default the work continues, because its writes fail without
   * the lease.
   */
  readonly lost?: Effect.Effect<never>
}

/**
 * Renews the lease every third of its duration while the effect runs. A renewal that fails ends the effect if `lost` would;
 * otherwise it is logged and tried again, since the effect continues in any case.
 */
export const whileLeased = ({ lost, millis, renew }: Lease) => {
  const renewing = (once: Effect.Effect<boolean>) =>
    once.pipe(Effect.delay(Duration.millis(millis / 3)), Effect.repeat({ while: (isHeld) => isHeld }))
  const persistently = Effect.catchCause(renew, (cause) =>
    Effect.as(Effect.logWarning("a lease could not be renewed; retrying", cause), true)
  )
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    lost === undefined
      ? beside(effect, renewing(persistently))
      : Effect.raceFirst(effect, Effect.andThen(renewing(renew), lost))
}

/** Runs an effect, and another one beside it until the first ends. Takes a fraction of the time of a race, which has two fibers. */
const beside = <A, E, R>(effect: Effect.Effect<A, E, R>, other: Effect.Effect<unknown>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkChild(other, { startImmediately: true }), (fiber) =>
    Effect.onExit(effect, () => Effect.sync(() => fiber.interruptUnsafe()))
  )
