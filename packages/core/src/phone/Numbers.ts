import { Array, Context, Effect, Layer, Result } from "effect"
import type { EventDraft } from "../events/DurableEvent.ts"
import { EventStore } from "../events/EventStore.ts"
import { type ProviderError, ProviderUnwell } from "../kernel/ProviderError.ts"
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

/**
 * The steps that return a number to its carrier: at its tenant's request, at its end, or when it vanished at the
 * carrier.
 */
export interface NumberRelease {
  /**
   * Suspends numbers permanently, in one transaction. Returns those that it suspended: the active ones for which
   * `isDue` returned true under the lock.
   */
  readonly suspend: (
    numbers: ReadonlyArray<NumberKey>,
    reason: Suspension,
    isDue?: (number: PhoneNumber) => boolean
  ) => Effect.Effect<ReadonlyArray<PhoneNumber>>
  /**
   * Ends the calls of a suspended number, releases it at the carrier and stores that it is released. It may be repeated
   * after any failure.
   */
  readonly release: (number: PhoneNumber) => Effect.Effect<PhoneNumber, ProviderError>
  /**
   * Applies `release` to all these numbers, and returns one result each in the order given. Stores all successful
   * releases in one transaction.
   */
  readonly releaseEach: (
    numbers: ReadonlyArray<PhoneNumber>
  ) => Effect.Effect<ReadonlyArray<Result.Result<PhoneNumber, ProviderError>>>
  /**
   * Stores that the carrier no longer has the number. The event is `released` if the number was suspended, and
   * `reconciled` if it was active.
   */
  readonly recordVanished: (number: PhoneNumber) => Effect.Effect<void>
}

/** The number of concurrent requests to the carrier. */
const CONCURRENCY = 8

export const makeRelease: Effect.Effect<
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
          const state = moveNumber(number.state, by)
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

  const confirmReleased = (keys: ReadonlyArray<NumberKey>, event: (released: PhoneNumber) => EventDraft) =>
    moveLocked(
      keys,
      "ConfirmRelease",
      (number, now) => ({ ...number, nextNotice: null, releasedAt: now }),
      (released) => [event(released)]
    )

  const releaseAtCarrier = Effect.fnUntraced(function* (number: PhoneNumber, live: ReadonlyArray<Call>) {
    for (const call of live) if (call.phoneNumberId === number.phoneNumberId) yield* endCall(call)
    yield* provider.release(number.providerNumberId)
    return number
  })

  const releaseEach = Effect.fnUntraced(function* (given: ReadonlyArray<PhoneNumber>) {
    const live = yield* calls.liveEach(given.map(({ phoneNumberId }) => phoneNumberId))
    const outcomes = yield* Effect.forEach(given, (number) => Effect.result(releaseAtCarrier(number, live)), {
      concurrency: CONCURRENCY
    })
    const { all } = yield* confirmReleased(Array.getSuccesses(outcomes), PhoneEvent.released)
    return outcomes.map(Result.map((number) => all.get(number.phoneNumberId)!))
  })

  return {
    suspend: (keys, reason, isDue = () => true) =>
      Effect.map(
        moveLocked(
          keys,
          "Suspend",
          (number) => (isDue(number) ? { ...number, suspension: reason, nextNotice: null } : undefined),
          (number) => (reason === "expired" ? [PhoneEvent.suspended(number)] : [])
        ),
        ({ moved }) => moved
      ),
    release: (number) => Effect.flatMap(releaseEach([number]), ([outcome]) => Effect.fromResult(outcome!)),
    releaseEach,
    recordVanished: (number) =>
      Effect.asVoid(
        confirmReleased([number], (gone) =>
          gone.suspension === null ? PhoneEvent.reconciled(gone) : PhoneEvent.released(gone)
        )
      )
  }
})

/** The delay after which a client may retry a release that the carrier has not confirmed. */
const RELEASE_RETRY_SECONDS = 5

/** The free operations of a tenant on its numbers. */
export class Numbers extends Context.Service<
  Numbers,
  {
    readonly list: (tenant: Tenant) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /**
     * Releases a number permanently, after ending its live calls. The number can't be used from the start of the
     * release. If the carrier does not confirm, fails with `ProviderUnwell`; the client may retry, and a job completes
     * the release.
     */
    readonly release: (
      tenant: Tenant,
      phoneNumberId: string
    ) => Effect.Effect<PhoneNumber, ResourceNotFound | ResourceNotOwned | NumberReleased | ProviderUnwell>
  }
>()("@agentos/core/phone/Numbers") {
  static readonly layer = Layer.effect(
    Numbers,
    Effect.gen(function* () {
      const numbers = yield* PhoneNumberStore
      const releases = yield* makeRelease
      return Numbers.of({
        list: ({ tenantId }) => numbers.list(tenantId),
        release: Effect.fnUntraced(function* (tenant, phoneNumberId) {
          const number = yield* ownedNumber(numbers, tenant, phoneNumberId)
          const isBegun = number.state === "suspended" && number.suspension === "release_requested"
          if (!isBegun && !Allowance.isUsable(number, yield* Timestamp.now)) {
            return yield* new NumberReleased({ phoneNumberId })
          }
          const [suspended] = isBegun ? [number] : yield* releases.suspend([number], "release_requested")
          if (suspended === undefined) return yield* new NumberReleased({ phoneNumberId })
          return yield* Effect.mapError(
            releases.release(suspended),
            ({ message }) =>
              new ProviderUnwell({
                message: `The number is suspended, but the carrier has not confirmed its release yet: ${message}`,
                retryAfterSeconds: RELEASE_RETRY_SECONDS
              })
          )
        })
      })
    })
  )
}
