import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { EventStore } from "../events/EventStore.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { isSuspended } from "../tenancy/TenantSuspended.ts"
import type { Call } from "./Call.ts"
import { CallReports } from "./CallReports.ts"
import { CallStore } from "./CallStore.ts"
import * as Entitlement from "./Entitlement.ts"
import * as InboundAllowance from "./InboundAllowance.ts"
import { liveInbound, shareOut } from "./InboundLimits.ts"
import * as LiveTranscript from "./LiveTranscript.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import * as RelayRetries from "./RelayRetries.ts"
import * as RelayTokens from "./RelayTokens.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"

/** Somebody calls one of our numbers, by the carrier's word. */
export interface ArrivingCall {
  readonly providerCallId: string
  readonly from: string
  readonly to: string
}

/** What the carrier is told to do with a call that can be answered. */
export type Admission =
  | {
      readonly _tag: "Connect"
      readonly call: Call
      readonly token: Redacted.Redacted<string>
      /** Before its relay is opened. */
      readonly waitSeconds: number
    }
  /** Not to be answered; or, where it was already, to be ended. */
  | { readonly _tag: "Decline" }

const DECLINE: Admission = { _tag: "Decline" }
const GIVEN_UP = "The call was ended: its relay failed again and again."

/** Lets calls in to the agents behind the numbers. */
export class CallAdmission extends Context.Service<
  CallAdmission,
  {
    /**
     * Somebody calls a number. It is answered at this moment if the number may be used, its allowance has a second
     * left for it, and its tenant is not suspended; the same call may be asked about again.
     */
    readonly arrive: (arriving: ArrivingCall) => Effect.Effect<Admission>
    /** Somebody whom a number has called answers, at this moment. */
    readonly answered: (callId: string) => Effect.Effect<Admission>
    /**
     * The relay of a call broke off, and the carrier asks how to go on: with another one, later and later where they fail
     * at once, and in the end with none, which the transcript says.
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
      const retries = RelayRetries.make()

      /** Lets one socket in to a call that goes on. */
      const connect = Effect.fnUntraced(function* (
        call: Option.Option<Call>,
        waitSeconds = 0
      ): Effect.fn.Return<Admission> {
        if (Option.isNone(call) || !goesOn(call.value)) return DECLINE
        const { hash, token } = yield* Effect.provideService(RelayTokens.make, Keyring, keyring)
        yield* calls.issueRelay(call.value.callId, hash)
        return { _tag: "Connect", call: call.value, token, waitSeconds }
      })

      /** The call as it is stored, answered; none when there is nothing left for it. */
      const admit = (number: PhoneNumber, arriving: ArrivingCall): Effect.Effect<Option.Option<Call>> =>
        transactor.transact(
          Effect.gen(function* () {
            yield* tenants.lock([number.tenantId])
            const known = yield* calls.findByProvider(arriving.providerCallId)
            if (Option.isSome(known)) return known
            if (yield* isSuspended(tenants, number.tenantId)) return Option.none()
            const now = yield* Timestamp.now
            const current = yield* numbers.find(number.tenantId, number.phoneNumberId)
            if (current._tag !== "Owned" || !Entitlement.isUsable(current.value, now)) return Option.none()
            const callId = yield* Uuid.next
            const live = liveInbound(yield* calls.live(number.phoneNumberId))
            const limits = InboundAllowance.limits(current.value.allowance, [...live, { callId, answeredAt: now }], now)
            const authorizedSeconds = limits.get(callId) ?? 0
            if (authorizedSeconds < 1) return Option.none()
            const call = inboundCall(callId, current.value, arriving, authorizedSeconds, now)
            yield* calls.create(call)
            yield* shareOut(calls, current.value, now)
            yield* events.append([PhoneEvent.callStarted(call, source)])
            return Option.some(call)
          })
        )

      return CallAdmission.of({
        arrive: Effect.fnUntraced(function* (arriving) {
          const number = yield* numbers.findByNumber(arriving.to)
          return Option.isNone(number) ? DECLINE : yield* connect(yield* admit(number.value, arriving))
        }),
        answered: Effect.fnUntraced(function* (callId) {
          const at = yield* Timestamp.now
          return yield* connect(yield* reports.apply(callId, { _tag: "Answered", at }))
        }),
        resume: Effect.fnUntraced(function* (callId) {
          const call = yield* calls.get(callId)
          if (Option.isNone(call) || !goesOn(call.value)) return DECLINE
          const waitSeconds = retries.next(callId, yield* Timestamp.now)
          if (waitSeconds !== undefined) return yield* connect(call, waitSeconds)
          const transcript = yield* LiveTranscript.make(calls, callId)
          yield* transcript.add("system", GIVEN_UP)
          return DECLINE
        })
      })
    })
  )
}

/** Whether an agent and a caller can be led together in it. */
const goesOn = ({ hangUpReason, state }: Call): boolean => state === "in_progress" && hangUpReason === null

const inboundCall = (
  callId: string,
  { agentId, beginMessage, phoneNumberId, tenantId }: PhoneNumber,
  { from, providerCallId, to }: ArrivingCall,
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
  hangUpReason: null,
  endReason: null,
  connectedSeconds: 0,
  // The carrier answers with no limit: the watch tells it one at once.
  watchAt: now,
  createdAt: now,
  answeredAt: now,
  endedAt: null
})
