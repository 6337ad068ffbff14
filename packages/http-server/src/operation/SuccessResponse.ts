import type { Operation } from "@agentos/api"
import type { Answer } from "@agentos/core"
import { Effect, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { type RequestFacts, RequestRecord } from "../edge/Route.ts"

const JSON_TYPE = "application/json"

/** Wraps the result of an operation in the success envelope. */
export const successResponse = ({ entry, status }: Operation, requestId: string, data: unknown) =>
  HttpServerResponse.text(JSON.stringify({ data, requestId, guide: entry.guide }), { status, contentType: JSON_TYPE })

/** Node writes a text together with the headers, and bytes beside them. Encoding a longer text takes more time than that. */
const TEXT_LENGTH_MAX = 16 * 1024

/** Returns how to wrap data that are already JSON text in the success envelope. */
export const preparedResponse = ({ entry }: Operation, data: string, headers: Readonly<Record<string, string>>) => {
  const options = { headers, contentType: JSON_TYPE }
  const [before, after] = [`{"data":${data},"requestId":"`, `","guide":${JSON.stringify(entry.guide)}}`]
  if (before.length < TEXT_LENGTH_MAX)
    return ({ requestId }: RequestFacts) => HttpServerResponse.text(before + requestId + after, options)
  const [first, last] = [Buffer.from(before), Buffer.from(after)]
  return ({ requestId }: RequestFacts) => {
    const bytes = Buffer.allocUnsafe(first.length + requestId.length + last.length)
    first.copy(bytes)
    bytes.write(requestId, first.length, "latin1")
    last.copy(bytes, first.length + requestId.length)
    return HttpServerResponse.uint8Array(bytes, options)
  }
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
