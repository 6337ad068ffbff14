import { Context, Effect, Layer, Option } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import type { Call } from "./Call.ts"
import * as CallProgress from "./CallProgress.ts"
import { CallStore } from "./CallStore.ts"
import * as InboundAllowance from "./InboundAllowance.ts"
import { shareOut } from "./InboundLimits.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"

/** Applies reports and decisions to stored calls, and appends the events that follow from them. */
export class CallReports extends Context.Service<
  CallReports,
  {
    /**
     * Applies a report of the carrier to a call. Reports may repeat and arrive in any order. Returns the resulting
     * call, or none if there is no such call.
     */
    readonly apply: (callId: string, report: CallProgress.CallReport) => Effect.Effect<Option.Option<Call>>
    /**
     * Stores the carrier's id of a call, unless the call has one or another call has this one. Returns the resulting
     * call.
     */
    readonly identify: (callId: string, providerCallId: string) => Effect.Effect<Option.Option<Call>>
    /** Changes a call that has not ended, under its tenant's lock. Returns the resulting call. */
    readonly change: (
      callId: string,
      change: (call: Call, now: Timestamp.Timestamp) => Call
    ) => Effect.Effect<Option.Option<Call>>
  }
>()("@agentos/core/phone/CallReports") {
  static readonly layer = Layer.effect(
    CallReports,
    Effect.gen(function* () {
      const calls = yield* CallStore
      const numbers = yield* PhoneNumberStore
      const tenants = yield* TenantStore
      const events = yield* EventStore
      const transactor = yield* Transactor
      const { name: source } = yield* TelephonyProvider

      /** Updates the allowance of the number after an inbound call was answered or ended, and shares out the rest. */
      const settleAllowance = Effect.fnUntraced(function* (call: Call, now: Timestamp.Timestamp) {
        const found = yield* numbers.find(call.tenantId, call.phoneNumberId)
        if (call.direction !== "inbound" || found._tag !== "Owned") return
        const number =
          call.state === "ended"
            ? { ...found.value, allowance: InboundAllowance.used(found.value.allowance, call.connectedSeconds) }
            : found.value
        if (call.state === "ended") yield* numbers.update(number)
        yield* shareOut(calls, number, now)
      })

      const decideOn = Effect.fnUntraced(function* (
        callId: string,
        decide: (call: Call, now: Timestamp.Timestamp) => Effect.Effect<Call>
      ) {
        const known = yield* calls.get(callId)
        if (Option.isNone(known)) return known
        return yield* transactor.transact(
          Effect.gen(function* () {
            yield* tenants.lock([known.value.tenantId])
            const current = yield* calls.get(callId)
            if (Option.isNone(current) || current.value.state === "ended") return current
            const now = yield* Timestamp.now
            const before = current.value
            const after = yield* decide(before, now)
            if (after === before) return current
            yield* calls.update(after)
            const isAnswer = before.answeredAt === null && after.answeredAt !== null
            const isEnd = after.state === "ended"
            if (isAnswer || isEnd) yield* settleAllowance(after, now)
            yield* events.append([
              ...(isAnswer ? [PhoneEvent.callStarted(after, source)] : []),
              ...(isEnd ? [PhoneEvent.callEnded(after, source)] : [])
            ])
            return Option.some(after)
          })
        )
      })

      const change = (callId: string, decide: (call: Call, now: Timestamp.Timestamp) => Call) =>
        decideOn(callId, (call, now) => Effect.succeed(decide(call, now)))

      // All calls between the same two numbers belong to one tenant, so its lock prevents two calls from storing one
      // id.
      const identify = (callId: string, providerCallId: string) =>
        decideOn(callId, (call) =>
          call.providerCallId !== null
            ? Effect.succeed(call)
            : Effect.map(calls.findByProvider(providerCallId), (known) =>
                Option.isNone(known) ? { ...call, providerCallId } : call
              )
        )

      return CallReports.of({
        identify,
        apply: (callId, report) => change(callId, (call) => CallProgress.apply(call, report)),
        change
      })
    })
  )
}
