import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { EventStore } from "../events/EventStore.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { isSuspended } from "../tenancy/Tenant.ts"
import * as Allowance from "./Allowance.ts"
import type { Call } from "./Call.ts"
import { reserveAllowance } from "./CallLimits.ts"
import { CallReports } from "./Calls.ts"
import { CallStore } from "./CallStore.ts"
import { storedCaller } from "./CallerId.ts"
import { makeDeclinedCalls } from "./DeclinedCalls.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"
import { nextTurn } from "./Transcript.ts"
import { makeRetries, makeToken } from "./VoiceRelay.ts"

/** An incoming call to one of the service's numbers, as the carrier reports it. */
export interface InboundCall {
  readonly providerCallId: string
  /** The caller as the carrier sends it; empty if it sends none. */
  readonly from: string
  readonly to: string
}

/** The instruction to the carrier for a call that can be answered or reconnected. */
export type Admission =
  | {
      readonly _tag: "Connect"
      readonly call: Call
      readonly token: Redacted.Redacted<string>
      /** The number's language and voice for speech output; null for the carrier's default. */
      readonly language: string | null
      readonly voice: string | null
      /** How long the carrier waits before it opens the relay. */
      readonly waitSeconds: number
    }
  /** Do not answer the call, or end it if it is already answered. */
  | { readonly _tag: "Decline" }

const DECLINE: Admission = { _tag: "Decline" }
/**
 * The shortest limit of each call when one joins others. The carrier learns of the new limits up to a second later, plus its own
 * delay: with less, the others could use the seconds that are reserved for the new call.
 */
const JOINING_SECONDS_MIN = 3
const RELAY_FAILED = "The call was ended because its relay failed repeatedly."

/** Decides whether a call is connected to the agent behind its number. */
export class CallAdmission extends Context.Service<
  CallAdmission,
  {
    /**
     * Admits an incoming call. The call counts as answered now if the number may be used, its allowance has at least
     * one second left for this call, or three for each beside other calls, and its tenant is not suspended. A call that is
     * declined because the allowance is used up is reported to the tenant (`DeclinedCalls`). Idempotent for one
     * `providerCallId`.
     */
    readonly admit: (inbound: InboundCall) => Effect.Effect<Admission>
    /** Records that an outbound call was answered now, and connects it. */
    readonly answered: (callId: string) => Effect.Effect<Admission>
    /**
     * Decides how a call continues after its relay broke off: with another relay, after a longer wait each time relays
     * fail at once, and finally with `Decline`, which the transcript records.
     */
    readonly resume: (callId: string) => Effect.Effect<Admission>
  }
>()("@agentos/core/phone/CallAdmission") {
  static readonly layer = Layer.effect(
    CallAdmission,
    Effect.gen(function* () {
      const calls = yield* CallStore
      const numbers = yield* PhoneNumberStore
      const reports = yield* CallReports
      const tenants = yield* TenantStore
      const events = yield* EventStore
      const transactor = yield* Transactor
      const keyring = yield* Keyring
      const { name: source } = yield* TelephonyProvider
      const { decline } = yield* makeDeclinedCalls
      const retries = makeRetries()

      /** Issues a token for one relay socket, if the call is in progress and is not being ended. */
      const connect = Effect.fnUntraced(function* (
        call: Option.Option<Call>,
        waitSeconds = 0
      ): Effect.fn.Return<Admission> {
        if (Option.isNone(call) || !isConnectable(call.value)) return DECLINE
        const { callId, phoneNumberId, tenantId } = call.value
        const redeemed = yield* calls.redeemedRelay(callId)
        const { hash, token } = yield* Effect.provideService(makeToken(callId, redeemed), Keyring, keyring)
        yield* calls.issueRelay(callId, hash)
        const number = yield* numbers.find(tenantId, phoneNumberId)
        const { language, voice } = number._tag === "Owned" ? number.value : { language: null, voice: null }
        return { _tag: "Connect", call: call.value, token, language, voice, waitSeconds }
      })

      /**
       * Stores the incoming call as answered and returns it, or returns the call that is already stored for this
       * `providerCallId`. Returns none if the number can't be used, its tenant is suspended or too few seconds are left.
       */
      const store = (number: PhoneNumber, inbound: InboundCall): Effect.Effect<Option.Option<Call>> =>
        transactor.transact(
          Effect.gen(function* () {
            const [tenant] = yield* tenants.lock([number.tenantId])
            const known = yield* calls.findByProvider(inbound.providerCallId)
            if (Option.isSome(known)) return known
            if (yield* isSuspended(tenant)) return Option.none()
            const now = yield* Timestamp.now
            const current = yield* numbers.find(number.tenantId, number.phoneNumberId)
            if (current._tag !== "Owned" || !Allowance.isUsable(current.value, now)) return Option.none()
            const callId = yield* Uuid.next
            const live = Allowance.liveInbound(yield* calls.live(number.phoneNumberId))
            const joining = { callId, answeredAt: now, authorizedSeconds: 0, extendedSeconds: 0 }
            const reserved = Allowance.reserve(current.value.allowance, [...live, joining], now)
            const authorizedSeconds = reserved.get(callId) ?? 0
            if (Math.min(...reserved.values()) < (live.length === 0 ? 1 : JOINING_SECONDS_MIN)) {
              yield* decline(current.value, inbound, now)
              return Option.none()
            }
            const call = inboundCall(callId, current.value, inbound, authorizedSeconds, now)
            yield* calls.create(call)
            yield* reserveAllowance(calls, current.value, now)
            yield* events.append([PhoneEvent.callStarted(call, source)])
            return Option.some(call)
          })
        )

      return CallAdmission.of({
        admit: Effect.fnUntraced(function* (announced) {
          const inbound = { ...announced, from: storedCaller(announced.from) }
          const number = yield* numbers.findByNumber(inbound.to)
          return Option.isNone(number) ? DECLINE : yield* connect(yield* store(number.value, inbound))
        }),
        answered: Effect.fnUntraced(function* (callId) {
          const at = yield* Timestamp.now
          return yield* connect(yield* reports.apply(callId, { _tag: "Answered", at }))
        }),
        resume: Effect.fnUntraced(function* (callId) {
          const call = yield* calls.get(callId)
          if (Option.isNone(call) || !isConnectable(call.value)) return DECLINE
          const now = yield* Timestamp.now
          const waitSeconds = retries.next(callId, now)
          if (waitSeconds !== undefined) return yield* connect(call, waitSeconds)
          const [last] = yield* calls.turns(callId, 1)
          const turn = nextTurn(last, "system", RELAY_FAILED, now)
          if (turn !== null) yield* calls.addTurn(callId, turn)
          return DECLINE
        })
      })
    })
  )
}

/** Whether the call can be connected to a relay. */
const isConnectable = ({ hangUpReason, state }: Call): boolean => state === "in_progress" && hangUpReason === null

const inboundCall = (
  callId: string,
  { agentId, beginMessage, phoneNumberId, tenantId }: PhoneNumber,
  { from, providerCallId, to }: InboundCall,
  authorizedSeconds: number,
  now: Timestamp.Timestamp
): Call => ({
  callId,
  tenantId,
  phoneNumberId,
  agentId,
  direction: "inbound",
  fromNumber: from,
  toNumber: to,
  state: "in_progress",
  providerCallId,
  greeting: beginMessage,
  authorizedSeconds,
  extendedSeconds: 0,
  hangUpReason: null,
  answeredBy: null,
  endReason: null,
  connectedSeconds: 0,
  // The carrier answers the call without a limit; the watch sets one immediately.
  watchAt: now,
  createdAt: now,
  answeredAt: now,
  endedAt: null
})
