import { Array, Effect, Result } from "effect"
import type { EventDraft } from "../events/DurableEvent.ts"
import { EventStore } from "../events/EventStore.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import type { Call } from "./Call.ts"
import * as CallProgress from "./CallProgress.ts"
import { CallReports } from "./CallReports.ts"
import { CallStore } from "./CallStore.ts"
import { move, type NumberMove, type Suspension } from "./NumberState.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import { type NumberKey, PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"

/**
 * The steps that return a number to its carrier: at its tenant's request, at its end, or when it vanished at the
 * carrier.
 */
export interface NumberRelease {
  /**
   * Suspends numbers permanently, in one transaction. Returns those that it suspended: the active ones for which
   * `mayStill` returned true under the lock.
   */
  readonly suspend: (
    numbers: ReadonlyArray<NumberKey>,
    why: Suspension,
    mayStill?: (number: PhoneNumber) => boolean
  ) => Effect.Effect<ReadonlyArray<PhoneNumber>>
  /**
   * Ends the calls of a suspended number, releases it at the carrier and stores that it is released. It may be repeated
   * after any failure.
   */
  readonly giveBack: (number: PhoneNumber) => Effect.Effect<PhoneNumber, ProviderError>
  /**
   * Applies `giveBack` to all these numbers, and returns one result each in the order given. Stores all successful
   * releases in one transaction.
   */
  readonly giveBackEach: (
    numbers: ReadonlyArray<PhoneNumber>
  ) => Effect.Effect<ReadonlyArray<Result.Result<PhoneNumber, ProviderError>>>
  /**
   * Stores that the carrier no longer has the number. The event is `released` if the number was suspended, and
   * `reconciled` if it was active.
   */
  readonly noteGone: (number: PhoneNumber) => Effect.Effect<void>
}

/** The number of concurrent requests to the carrier. */
const CONCURRENCY = 8

export const make: Effect.Effect<
  NumberRelease,
  never,
  PhoneNumberStore | CallStore | CallReports | TelephonyProvider | TenantStore | EventStore | Transactor
> = Effect.gen(function* () {
  const numbers = yield* PhoneNumberStore
  const calls = yield* CallStore
  const reports = yield* CallReports
  const provider = yield* TelephonyProvider
  const tenants = yield* TenantStore
  const events = yield* EventStore
  const transactor = yield* Transactor

  /**
   * Applies a move to numbers under the locks of their tenants. A number is changed if the move is allowed in its state
   * and `change` returns a value. Returns the changed numbers, and all numbers by id with their resulting state.
   */
  const moveLocked = (
    keys: ReadonlyArray<NumberKey>,
    by: NumberMove,
    change: (number: PhoneNumber, now: Timestamp.Timestamp) => PhoneNumber | undefined,
    eventsOf: (number: PhoneNumber) => ReadonlyArray<EventDraft>
  ): Effect.Effect<{
    readonly moved: ReadonlyArray<PhoneNumber>
    readonly all: ReadonlyMap<string, PhoneNumber>
  }> =>
    transactor.transact(
      Effect.gen(function* () {
        yield* tenants.lock(keys.map(({ tenantId }) => tenantId))
        const now = yield* Timestamp.now
        const found = yield* numbers.findEach(keys)
        const moved = found.flatMap((number) => {
          const state = move(number.state, by)
          const changed = state === undefined ? undefined : change(number, now)
          return state === undefined || changed === undefined ? [] : { ...changed, state }
        })
        yield* numbers.updateEach(moved)
        yield* events.append(moved.flatMap(eventsOf))
        return { moved, all: new Map([...found, ...moved].map((number) => [number.phoneNumberId, number])) }
      })
    )

  const endCall = Effect.fnUntraced(function* ({ callId }: Call) {
    const call = yield* reports.change(callId, (live, now) => CallProgress.hangingUp(live, "hangup_agent", now))
    if (call._tag === "Some" && call.value.providerCallId !== null) yield* provider.hangUp(call.value.providerCallId)
  })

  const proveReleased = (keys: ReadonlyArray<NumberKey>, event: (released: PhoneNumber) => EventDraft) =>
    moveLocked(
      keys,
      "ProveReleased",
      (number, now) => ({ ...number, nextNotice: null, releasedAt: now }),
      (released) => [event(released)]
    )

  const takeBack = Effect.fnUntraced(function* (number: PhoneNumber, live: ReadonlyArray<Call>) {
    for (const call of live) if (call.phoneNumberId === number.phoneNumberId) yield* endCall(call)
    yield* provider.release(number.providerNumberId)
    return number
  })

  const giveBackEach = Effect.fnUntraced(function* (given: ReadonlyArray<PhoneNumber>) {
    const live = yield* calls.liveEach(given.map(({ phoneNumberId }) => phoneNumberId))
    const outcomes = yield* Effect.forEach(given, (number) => Effect.result(takeBack(number, live)), {
      concurrency: CONCURRENCY
    })
    const { all } = yield* proveReleased(Array.getSuccesses(outcomes), PhoneEvent.released)
    return outcomes.map(Result.map((number) => all.get(number.phoneNumberId)!))
  })

  return {
    suspend: (keys, why, mayStill = () => true) =>
      Effect.map(
        moveLocked(
          keys,
          "Suspend",
          (number) => (mayStill(number) ? { ...number, suspension: why, nextNotice: null } : undefined),
          (number) => (why === "expired" ? [PhoneEvent.suspended(number)] : [])
        ),
        ({ moved }) => moved
      ),
    giveBack: (number) => Effect.flatMap(giveBackEach([number]), ([outcome]) => Effect.fromResult(outcome!)),
    giveBackEach,
    noteGone: (number) =>
      Effect.asVoid(
        proveReleased([number], (gone) =>
          gone.suspension === null ? PhoneEvent.reconciled(gone) : PhoneEvent.released(gone)
        )
      )
  }
})
