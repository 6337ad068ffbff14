import { OPERATIONS } from "@agentos/api"
import {
  Calls,
  Numbers,
  type PhoneNumber,
  Timestamp,
  toCallRecord,
  toPhoneNumberRecord,
  toTranscriptRecord
} from "@agentos/core"
import { Effect } from "effect"
import { publicRoute, tenantRoute } from "../operation/FreeRoute.ts"
import { requireAvailable } from "../operation/OperationRoute.ts"
import { successResponse } from "../operation/Responses.ts"

export const routes = Effect.gen(function* () {
  const numbers = yield* Numbers
  const calls = yield* Calls

  /** The records of numbers now, with the seconds that their live calls have used. */
  const recordsOf = (some: ReadonlyArray<PhoneNumber>) =>
    Effect.zipWith(numbers.liveCalls(some), Timestamp.now, (live, now) =>
      some.map((number) => toPhoneNumberRecord(number, now, live))
    )

  return [
    tenantRoute(OPERATIONS.releaseNumber, (tenant, { payload: { phoneNumberId } }) =>
      Effect.map(
        Effect.flatMap(numbers.release(tenant, phoneNumberId), (number) => recordsOf([number])),
        ([record]) => ({
          phoneNumber: record!
        })
      )
    ),

    tenantRoute(OPERATIONS.listNumbers, (tenant) =>
      Effect.map(Effect.flatMap(numbers.list(tenant), recordsOf), (items) => ({ items }))
    ),

    publicRoute(OPERATIONS.listVoices, (_input, _request, { requestId }) =>
      Effect.as(
        requireAvailable(OPERATIONS.listVoices.entry),
        successResponse(OPERATIONS.listVoices, requestId, { items: numbers.voices })
      )
    ),

    tenantRoute(OPERATIONS.listCalls, (tenant, { query: { cursor, limit, ...filter } }) =>
      Effect.zipWith(calls.list(tenant, filter, { limit, cursor }), Timestamp.now, ({ items, nextCursor }, now) => ({
        items: items.map((call) => toCallRecord(call, now)),
        nextCursor
      }))
    ),

    tenantRoute(OPERATIONS.getCall, (tenant, { params: { callId } }) =>
      Effect.zipWith(calls.get(tenant, callId), Timestamp.now, (call, now) => ({ call: toCallRecord(call, now) }))
    ),

    tenantRoute(OPERATIONS.getTranscript, (tenant, { params: { callId }, query }) =>
      Effect.map(calls.transcript(tenant, callId, query), ({ call, turns: { items, nextCursor } }) => ({
        transcript: toTranscriptRecord(call, items),
        nextCursor
      }))
    )
  ] as const
})
