import { Array, Context, Effect, Layer, Result } from "effect"
import type { EventDraft } from "../events/DurableEvent.ts"
import { EventStore } from "../events/EventStore.ts"
import { type ProviderError, ProviderUnavailable } from "../kernel/ProviderError.ts"
import { NumberReleased, type ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import * as Allowance from "./Allowance.ts"
import type { Call } from "./Call.ts"
import * as CallProgress from "./CallProgress.ts"
import { CallReports } from "./Calls.ts"
import { CallStore } from "./CallStore.ts"
import { ownedNumber } from "./PhoneChecks.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import { type NumberKey, PhoneNumberStore } from "./PhoneNumberStore.ts"
import { moveNumber, type NumberMove, type Suspension } from "./PhoneState.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"
import type { Voice } from "./Voice.ts"

/** The number of concurrent requests to the carrier. */
const CONCURRENCY = 8

/** The steps that return numbers to their carrier: at their tenant's request, at their end, or when it lost them. */
export const makeRelease = Effect.gen(function* () {
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
  ) =>
    transactor.transact(
      Effect.gen(function* () {
        yield* tenants.lock(keys.map(({ tenantId }) => tenantId))
        const now = yield* Timestamp.now
        const found = yield* numbers.findEach(keys)
        const moved = found.flatMap((number) => {
          const state = moveNumber(number.state, by)
          const changed = state === undefined ? undefined : change(number, now)
          return state === undefined || changed === undefined ? [] : { ...changed, state }
        })
        yield* numbers.updateEach(moved)
        yield* events.append(moved.flatMap(eventsOf))
        return { moved, all: new Map([...found, ...moved].map((number) => [number.phoneNumberId, number])) }
      })
    )

  /**
   * Suspends numbers permanently, in one transaction. Returns those that it suspended: the active ones for which
   * `isDue` returned true under the lock.
   */
  const suspend = (
    keys: ReadonlyArray<NumberKey>,
    reason: Suspension,
    isDue: (number: PhoneNumber) => boolean = () => true
  ) =>
    Effect.map(
      moveLocked(
        keys,
        "Suspend",
        (number) => (isDue(number) ? { ...number, suspension: reason, nextNotice: null } : undefined),
        (number) => (reason === "expired" ? [PhoneEvent.suspended(number)] : [])
      ),
      ({ moved }) => moved
    )

  /**
   * Stores that the carrier no longer has the numbers. The event is `released` for a suspended number, and `reconciled`
   * for an active one.
   */
  const recordReleased = (keys: ReadonlyArray<NumberKey>) =>
    moveLocked(
      keys,
      "ConfirmRelease",
      (number, now) => ({ ...number, nextNotice: null, releasedAt: now }),
      (number) => [number.suspension === null ? PhoneEvent.reconciled(number) : PhoneEvent.released(number)]
    )

  const endCall = Effect.fnUntraced(function* ({ callId }: Call) {
    const call = yield* reports.change(callId, (live, now) => CallProgress.requestHangUp(live, "hangup_agent", now))
    if (call._tag === "Some" && call.value.providerCallId !== null) yield* provider.hangUp(call.value.providerCallId)
  })

  const releaseAtCarrier = Effect.fnUntraced(function* (number: PhoneNumber, live: ReadonlyArray<Call>) {
    for (const call of live) if (call.phoneNumberId === number.phoneNumberId) yield* endCall(call)
    yield* provider.release(number.providerNumberId)
    return number
  })

  /**
   * Ends the calls of suspended numbers, releases the numbers at the carrier and stores all successful releases in one
   * transaction. Returns one result each in the order given. It may be repeated after any failure.
   */
  const release = Effect.fnUntraced(function* (
    given: ReadonlyArray<PhoneNumber>
  ): Effect.fn.Return<ReadonlyArray<Result.Result<PhoneNumber, ProviderError>>> {
    const live = yield* calls.liveEach(given.map(({ phoneNumberId }) => phoneNumberId))
    const outcomes = yield* Effect.forEach(given, (number) => Effect.result(releaseAtCarrier(number, live)), {
      concurrency: CONCURRENCY
    })
    const { all } = yield* recordReleased(Array.getSuccesses(outcomes))
    return outcomes.map(Result.map((number) => all.get(number.phoneNumberId)!))
  })

  return { suspend, release, recordReleased }
})

/** The delay after which a client may retry a release that the carrier has not confirmed. */
const RELEASE_RETRY_SECONDS = 5

/** The free operations of a tenant on its numbers. */
export class Numbers extends Context.Service<
  Numbers,
  {
    readonly list: (tenant: Tenant) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /** Returns the live calls of numbers, in no defined order. */
    readonly liveCalls: (numbers: ReadonlyArray<PhoneNumber>) => Effect.Effect<ReadonlyArray<Call>>
    /** The voices that a number can be bought with. */
    readonly voices: ReadonlyArray<Voice>
    /**
     * Releases a number permanently, after ending its live calls. The number can't be used from the start of the
     * release. If the carrier does not confirm, fails with `ProviderUnavailable`; the client may retry, and a job completes
     * the release.
     */
    readonly release: (
      tenant: Tenant,
      phoneNumberId: string
    ) => Effect.Effect<PhoneNumber, ResourceNotFound | ResourceNotOwned | NumberReleased | ProviderUnavailable>
  }
>()("@agentos/core/phone/Numbers") {
  static readonly layer = Layer.effect(
    Numbers,
    Effect.gen(function* () {
      const numbers = yield* PhoneNumberStore
      const calls = yield* CallStore
      const { voices } = yield* TelephonyProvider
      const releases = yield* makeRelease
      return Numbers.of({
        voices,
        list: ({ tenantId }) => numbers.list(tenantId),
        liveCalls: (some) => calls.liveEach(some.map(({ phoneNumberId }) => phoneNumberId)),
        release: Effect.fnUntraced(function* (tenant, phoneNumberId) {
          const number = yield* ownedNumber(numbers, tenant, phoneNumberId)
          const isBegun = number.state === "suspended" && number.suspension === "release_requested"
          if (!isBegun && !Allowance.isUsable(number, yield* Timestamp.now)) {
            return yield* new NumberReleased({ phoneNumberId, country: number.country })
          }
          const [suspended] = isBegun ? [number] : yield* releases.suspend([number], "release_requested")
          if (suspended === undefined) return yield* new NumberReleased({ phoneNumberId, country: number.country })
          const [outcome] = yield* releases.release([suspended])
          return yield* Effect.mapError(
            Effect.fromResult(outcome!),
            ({ message }) =>
              new ProviderUnavailable({
                message: `The number is suspended, but the carrier has not confirmed its release yet: ${message}`,
                retryAfterSeconds: RELEASE_RETRY_SECONDS
              })
          )
        })
      })
    })
  )
}
