import { Effect } from "effect"
import { EventStore } from "../events/EventStore.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import * as CallProgress from "./CallProgress.ts"
import { CallReports } from "./CallReports.ts"
import { CallStore } from "./CallStore.ts"
import { move, type NumberMove, type Suspension } from "./NumberState.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"

/** The steps by which a number goes back to its carrier: the tenant's own release, its end, and what vanished. */
export interface NumberRelease {
  /** Takes an active number out of use, for good, in a transaction of its own; undefined when it is not active any more. */
  readonly suspend: (
    tenantId: TenantId,
    phoneNumberId: string,
    why: Suspension,
    mayStill?: (number: PhoneNumber) => boolean
  ) => Effect.Effect<PhoneNumber | undefined>
  /**
   * Ends the calls of a suspended number, lets the carrier take it back, and writes that down. It may be done again
   * after any failure.
   */
  readonly giveBack: (number: PhoneNumber) => Effect.Effect<PhoneNumber, ProviderError>
  /** Writes down that the carrier does not have the number any more. */
  readonly noteGone: (number: PhoneNumber) => Effect.Effect<PhoneNumber>
}

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

  /** Moves the number as it is under the lock, if that is a move from there; else answers it unchanged. */
  const moveLocked = (
    { phoneNumberId, tenantId }: Pick<PhoneNumber, "phoneNumberId" | "tenantId">,
    by: NumberMove,
    change: (number: PhoneNumber, now: Timestamp.Timestamp) => PhoneNumber | undefined,
    eventOf: (number: PhoneNumber) => ReadonlyArray<ReturnType<typeof PhoneEvent.released>>
  ): Effect.Effect<{ readonly moved: boolean; readonly number: PhoneNumber }> =>
    transactor.transact(
      Effect.gen(function* () {
        yield* tenants.lock([tenantId])
        const found = yield* numbers.find(tenantId, phoneNumberId)
        if (found._tag !== "Owned") return yield* Effect.die(new Error(`the number ${phoneNumberId} is gone`))
        const state = move(found.value.state, by)
        const changed = state === undefined ? undefined : change({ ...found.value, state }, yield* Timestamp.now)
        if (changed === undefined) return { moved: false, number: found.value }
        yield* numbers.update(changed)
        yield* events.append(eventOf(changed))
        return { moved: true, number: changed }
      })
    )

  const suspend: NumberRelease["suspend"] = (tenantId, phoneNumberId, why, mayStill = () => true) =>
    Effect.map(
      moveLocked(
        { tenantId, phoneNumberId },
        "Suspend",
        (number) => (mayStill(number) ? { ...number, suspension: why, nextNotice: null } : undefined),
        (number) => (why === "expired" ? [PhoneEvent.suspended(number)] : [])
      ),
      ({ moved, number }) => (moved ? number : undefined)
    )

  const endCalls = Effect.fnUntraced(function* ({ phoneNumberId }: PhoneNumber) {
    for (const { callId } of yield* calls.live(phoneNumberId)) {
      const call = yield* reports.change(callId, (live, now) => CallProgress.hangingUp(live, "hangup_agent", now))
      if (call._tag === "Some" && call.value.providerCallId !== null) yield* provider.hangUp(call.value.providerCallId)
    }
  })

  const proveReleased = (
    number: PhoneNumber,
    event: (released: PhoneNumber) => ReturnType<typeof PhoneEvent.released>
  ) =>
    Effect.map(
      moveLocked(
        number,
        "ProveReleased",
        (current, now) => ({ ...current, nextNotice: null, releasedAt: now }),
        (released) => [event(released)]
      ),
      (done) => done.number
    )

  return {
    suspend,
    giveBack: Effect.fnUntraced(function* (number) {
      yield* endCalls(number)
      yield* provider.release(number.providerNumberId)
      return yield* proveReleased(number, PhoneEvent.released)
    }),
    noteGone: (number) => proveReleased(number, PhoneEvent.reconciled)
  }
})
