import { OPERATIONS } from "@agentos/api"
import {
  CallExtension,
  Calls,
  CanadaNumberPurchase,
  FiveMinuteCall,
  InboundMinutes,
  NumberRenewal,
  Numbers,
  OneMinuteCall,
  Timestamp,
  toCallRecord,
  toPhoneNumberRecord,
  toTranscriptRecord,
  UsNumberPurchase
} from "@agentos/core"
import { Effect } from "effect"
import { tenantRoute } from "../operation/FreeRoute.ts"
import { paidRoute } from "../operation/PaidRoute.ts"

export const routes = Effect.gen(function* () {
  const numbers = yield* Numbers
  const calls = yield* Calls
  return [
    paidRoute(OPERATIONS.purchaseUsNumber, yield* UsNumberPurchase),
    paidRoute(OPERATIONS.purchaseCanadaNumber, yield* CanadaNumberPurchase),
    paidRoute(OPERATIONS.renewNumber, yield* NumberRenewal),
    paidRoute(OPERATIONS.callOneMinute, yield* OneMinuteCall),
    paidRoute(OPERATIONS.callFiveMinutes, yield* FiveMinuteCall),
    paidRoute(OPERATIONS.extendCall, yield* CallExtension),
    paidRoute(OPERATIONS.addInboundMinutes, yield* InboundMinutes),

    tenantRoute(OPERATIONS.releaseNumber, (tenant, { payload: { phoneNumberId } }) =>
      Effect.zipWith(numbers.release(tenant, phoneNumberId), Timestamp.now, (number, now) => ({
        phoneNumber: toPhoneNumberRecord(number, now)
      }))
    ),

    tenantRoute(OPERATIONS.listNumbers, (tenant) =>
      Effect.zipWith(numbers.list(tenant), Timestamp.now, (found, now) => ({
        items: found.map((number) => toPhoneNumberRecord(number, now))
      }))
    ),

    tenantRoute(OPERATIONS.getCall, (tenant, { params: { callId } }) =>
      Effect.map(calls.get(tenant, callId), (call) => ({ call: toCallRecord(call) }))
    ),

    tenantRoute(OPERATIONS.getTranscript, (tenant, { params: { callId } }) =>
      Effect.map(calls.transcript(tenant, callId), ({ call, turns }) => ({
        transcript: toTranscriptRecord(call, turns)
      }))
    )
  ] as const
})
