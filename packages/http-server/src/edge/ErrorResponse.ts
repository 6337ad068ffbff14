import { type ApiError, canHavePaymentState, errorCodesOf, toWireError } from "@agentos/api"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServerSettings } from "../ServerSettings.ts"
import { pathOf } from "./RequestLimits.ts"
import { RequestRecord } from "./RequestRecord.ts"
import { RouteMatch } from "./Routing.ts"

/** Returns the response to a failed request. */
export const errorResponse = Effect.fnUntraced(function* (error: ApiError) {
  const { headers: sent, method, url } = yield* HttpServerRequest.HttpServerRequest
  const record = yield* RequestRecord
  const { capabilities } = yield* ServerSettings
  const { route } = yield* RouteMatch
  const entry = route?.entry ?? null
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
  if (entry !== null && !errorCodesOf(entry).has(code)) {
    yield* Effect.logError(`${entry.operationId} answered ${code}, which its catalog entry does not list`)
  }
  if (paymentState !== undefined && !canHavePaymentState(code, paymentState)) {
    yield* Effect.logError(`${code} was answered with the paymentState ${paymentState}, which it can't have`)
  }
  return HttpServerResponse.jsonUnsafe(body, { status, headers })
})
