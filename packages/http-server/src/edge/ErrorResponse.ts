import { type ApiError, canHavePaymentState, errorCodesOf, toWireError } from "@agentos/api"
import type { Capabilities } from "@agentos/core"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { pathOf } from "./RequestLimits.ts"
import type { RequestFacts } from "./RequestRecord.ts"

/** Returns the response to a failed request, and notes its code. Logs a code that the catalog does not list. */
export const errorResponse = (
  { headers: sent, method, url }: HttpServerRequest.HttpServerRequest,
  record: RequestFacts,
  capabilities: Capabilities,
  error: ApiError
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const entry = record.match.route?.entry ?? null
  const { body, headers, status } = toWireError(error, {
    requestId: record.requestId,
    method,
    path: pathOf(url),
    entry,
    capabilities,
    paymentState: record.paymentState ?? (sent["payment-signature"] ? "unknown" : "none")
  })
  const { code, paymentState } = body.error
  record.code = code
  let answer = Effect.succeed(HttpServerResponse.jsonUnsafe(body, { status, headers }))
  if (entry !== null && !errorCodesOf(entry).has(code)) {
    answer = Effect.andThen(
      Effect.logError(`${entry.operationId} answered ${code}, which its catalog entry does not list`),
      answer
    )
  }
  if (paymentState !== undefined && !canHavePaymentState(code, paymentState)) {
    answer = Effect.andThen(
      Effect.logError(`${code} was answered with the paymentState ${paymentState}, which it can't have`),
      answer
    )
  }
  return answer
}
