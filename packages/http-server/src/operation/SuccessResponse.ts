import type { Operation } from "@agentos/api"
import type { Answer } from "@agentos/core"
import { Effect, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { RequestRecord } from "../edge/RequestRecord.ts"

const JSON_TYPE = "application/json"

/** Wraps the result of an operation in the success envelope. */
export const successResponse = ({ entry, status }: Operation, data: unknown) =>
  Effect.map(RequestRecord, ({ requestId }) =>
    HttpServerResponse.text(JSON.stringify({ data, requestId, guide: entry.guide }), {
      status,
      contentType: JSON_TYPE
    })
  )

/**
 * Wraps data that are already JSON text in the success envelope. The text is encoded once, because a catalog takes longer
 * to encode than everything else in its request.
 */
export const preparedResponse = ({ entry }: Operation, data: string, headers: Readonly<Record<string, string>>) => {
  const before = Buffer.from(`{"data":${data},"requestId":"`)
  const after = Buffer.from(`","guide":${JSON.stringify(entry.guide)}}`)
  return Effect.map(RequestRecord, ({ requestId }) => {
    const bytes = Buffer.allocUnsafe(before.length + requestId.length + after.length)
    before.copy(bytes)
    bytes.write(requestId, before.length, "latin1")
    after.copy(bytes, before.length + requestId.length)
    return HttpServerResponse.uint8Array(bytes, { headers, contentType: JSON_TYPE })
  })
}

/** Returns the response of a paid operation, with the same bytes and headers each time. */
export const paidResponse = (answer: Answer) =>
  Effect.map(RequestRecord, (record) => {
    if (record.requestId !== answer.requestId) record.repeats = answer.requestId
    return HttpServerResponse.text(Redacted.value(answer.body), {
      status: answer.created ? 201 : 200,
      contentType: JSON_TYPE,
      headers: { "x-request-id": answer.requestId, "payment-response": answer.receipt }
    })
  })
