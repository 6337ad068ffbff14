import { type ApiError, toWireError } from "@agentos/api"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { pathOf } from "./RequestLimits.ts"
import { RequestRecord } from "./RequestRecord.ts"
import { RouteMatch } from "./Routing.ts"

/** Returns the response to a failed request. */
export const errorResponse = Effect.fnUntraced(function* (error: ApiError) {
  const { headers: sent, method, url } = yield* HttpServerRequest.HttpServerRequest
  const record = yield* RequestRecord
  const { route } = yield* RouteMatch
  const { body, headers, status } = toWireError(error, {
    requestId: record.requestId,
    method,
    path: pathOf(url),
    entry: route?.entry ?? null,
    hasUnknownPayment: Boolean(sent["payment-signature"]) && record.isPaymentUnused !== true
  })
  record.code = body.error.code
  return HttpServerResponse.jsonUnsafe(body, { status, headers })
})
