import { type TenantId, Uuid, type WakeUp } from "@agentos/core"
import { PgConnection } from "@effect/sql-pg"
import { Deferred, Effect, Queue, Schedule, type Scope, Semaphore } from "effect"
import type { SqlClient } from "effect/sql"

/** How the word that a tenant has something to deliver reaches whoever waits for it. */
export interface Announcements {
  /** Tells that these tenants have something new, once the transaction of the caller commits and never otherwise. */
  readonly announce: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<void>
  /** See `EventSignal`. */
  readonly listen: (wake: (wakeUp: WakeUp) => void) => Effect.Effect<void, never, Scope.Scope>
}

const CHANNEL = "agentos_events"

/** A payload of pg_notify is shorter than 8000 bytes; the sender's id and a tenant's take 37 of them each. */
const TENANTS_PER_PAYLOAD = 200
/** Tenants that one statement tells of. */
const TENANTS_PER_STATEMENT = 10 * TENANTS_PER_PAYLOAD

/** How long after one attempt to listen another is made: soon at first, and at least every 5 seconds. */
const reconnect = Schedule.jittered(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]))
const RETRY_AFTER = "1 second"
/** What is left to be told when a server stops gets this long. */
const FLUSH_WITHIN = "2 seconds"

/**
 * Through the database, to every server on it, by a connection of each that
 * listens. What is announced while that connection is lost is made up for by
 * waking everybody.
 *
 * Sessions of this process are woken as soon as the transaction has committed.
 * The others are told by a statement of its own after that: a NOTIFY within the
 * transaction would hold a lock, of which the database has one, while the commit
 * goes to disk, so that one commit would wait for the other. All that is to be
 * told while such a statement is under way goes into the next one. A server that dies
 * in between tells nobody; the others find out when they look for themselves.
 *
 * It answers when the first attempt to listen is over.
 */
export const makeListening = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  connection: PgConnection.Config
): Effect.fn.Return<Announcements, never, Scope.Scope> {
  const listeners = new Listeners()
  const self = yield* Uuid.next
  const attempted = yield* Deferred.make<void>()

  const hear = ({ payload }: PgConnection.Notification): void => {
    const [sender, ...tenantIds] = payload.split(",")
    if (sender !== self) listeners.wake(tenantIds)
  }
  const listenUntilLost = Effect.gen(function* () {
    const session = yield* PgConnection.make(connection)
    const notifications = yield* session.listen(CHANNEL)
    yield* Deferred.succeed(attempted, undefined)
    listeners.wake("everybody")
    yield* Effect.ignore(Effect.forever(Effect.map(Queue.take(notifications), hear)))
  })
  const listen = Effect.scoped(listenUntilLost).pipe(
    Effect.tapError((error) =>
      Effect.andThen(Effect.logWarning("can't listen for events", error), Deferred.succeed(attempted, undefined))
    ),
    Effect.retry(reconnect),
    Effect.andThen(Effect.logWarning("no longer listening for events: connecting again"))
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(listen, Effect.sleep("100 millis"))))
  yield* Deferred.await(attempted)

  const notify = yield* makeNotifying((payloads) => {
    const texts = payloads.map((tenantIds) => [self, ...tenantIds].join(","))
    return sql`select pg_notify(${CHANNEL}, payload) from unnest(${texts}::text[]) payload`
  })
  return {
    announce: (tenantIds) =>
      tenantIds.length === 0
        ? Effect.void
        : sql.afterCommit(
            Effect.sync(() => {
              listeners.wake(tenantIds)
              notify(tenantIds)
            })
          ),
    listen: listeners.listen
  }
})

/**
 * What tells the other servers, from now until the scope closes: all that waits with one statement, one
 * statement at a time. Each tenant waits once at most.
 */
const makeNotifying = Effect.fnUntraced(function* <E>(
  send: (payloads: ReadonlyArray<ReadonlyArray<TenantId>>) => Effect.Effect<unknown, E>
): Effect.fn.Return<(tenantIds: ReadonlyArray<TenantId>) => void, never, Scope.Scope> {
  const waiting = new Set<TenantId>()
  const due = yield* Queue.dropping<void>(1)
  const sending = yield* Semaphore.make(1)

  const sendAll = Effect.gen(function* () {
    while (waiting.size > 0) {
      const tenantIds = [...waiting].slice(0, TENANTS_PER_STATEMENT)
      for (const tenantId of tenantIds) waiting.delete(tenantId)
      const payloads: Array<ReadonlyArray<TenantId>> = []
      for (let start = 0; start < tenantIds.length; start += TENANTS_PER_PAYLOAD) {
        payloads.push(tenantIds.slice(start, start + TENANTS_PER_PAYLOAD))
      }
      yield* Effect.tapError(send(payloads), () =>
        Effect.sync(() => {
          for (const tenantId of tenantIds) waiting.add(tenantId)
        })
      )
    }
  }).pipe(sending.withPermits(1))

  const keepSending = Effect.gen(function* () {
    yield* Queue.take(due)
    yield* Effect.retry(
      Effect.tapError(sendAll, (error) => Effect.logWarning("can't tell other servers of events; trying again", error)),
      Schedule.spaced(RETRY_AFTER)
    )
  })
  yield* Effect.forkScoped(Effect.forever(keepSending))
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(sendAll, FLUSH_WITHIN)))

  return (tenantIds) => {
    for (const tenantId of tenantIds) waiting.add(tenantId)
    Queue.offerUnsafe(due, undefined)
  }
})

/** Within this process alone, after the outermost transaction has committed. */
export const makeLocal = (sql: SqlClient.SqlClient): Announcements => {
  const listeners = new Listeners()
  return {
    announce: (tenantIds) =>
      tenantIds.length === 0 ? Effect.void : sql.afterCommit(Effect.sync(() => listeners.wake(tenantIds))),
    listen: listeners.listen
  }
}

/** Who in this process waits for wake-ups. */
class Listeners {
  readonly #wakes = new Set<(wakeUp: WakeUp) => void>()

  readonly listen = (wake: (wakeUp: WakeUp) => void): Effect.Effect<void, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => void this.#wakes.add(wake)),
      () => Effect.sync(() => void this.#wakes.delete(wake))
    )

  wake(wakeUp: WakeUp): void {
    for (const wake of this.#wakes) wake(wakeUp)
  }
}
