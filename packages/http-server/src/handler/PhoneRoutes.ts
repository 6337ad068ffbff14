import { OPERATIONS } from "@agentos/api"
import { Calls, Numbers, Timestamp, toCallRecord, toPhoneNumberRecord, toTranscriptRecord } from "@agentos/core"
import { Effect } from "effect"
import { publicRoute, tenantRoute } from "../operation/FreeRoute.ts"
import { requireAvailable } from "../operation/OperationRoute.ts"
import { successResponse } from "../operation/Responses.ts"

export const routes = Effect.gen(function* () {
  const numbers = yield* Numbers
  const calls = yield* Calls
  return [
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

    publicRoute(OPERATIONS.listVoices, (_input, _request, { requestId }) =>
      Effect.as(
        requireAvailable(OPERATIONS.listVoices.entry),
        successResponse(OPERATIONS.listVoices, requestId, { items: numbers.voices })
      )
    ),

    tenantRoute(OPERATIONS.listCalls, (tenant, { query: { cursor, limit, ...filter } }) =>
      Effect.map(calls.list(tenant, filter, { limit, cursor }), ({ items, nextCursor }) => ({
        items: items.map(toCallRecord),
        nextCursor
      }))
    ),

    tenantRoute(OPERATIONS.getCall, (tenant, { params: { callId } }) =>
      Effect.map(calls.get(tenant, callId), (call) => ({ call: toCallRecord(call) }))
    ),

    tenantRoute(OPERATIONS.getTranscript, (tenant, { params: { callId }, query }) =>
      Effect.map(calls.transcript(tenant, callId, query), ({ call, turns: { items, nextCursor } }) => ({
        transcript: toTranscriptRecord(call, items),
        nextCursor
      }))
    )
  ] as const
})
