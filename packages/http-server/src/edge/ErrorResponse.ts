import { type ApiError, canHavePaymentState, errorCodesOf, RouteUnknown, toWireError } from "@agentos/api"
import type { Capabilities } from "@agentos/core"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { pathOf } from "./RequestLimits.ts"
import type { RequestFacts } from "./Route.ts"

const PATH_SHOWN = 200

/** Returns the error of a request whose path is unknown. */
export const routeUnknown = (url: string): RouteUnknown => new RouteUnknown({ path: pathOf(url).slice(0, PATH_SHOWN) })

/** Returns the response to a failed request, and notes its code, and whether it contradicts the contract. */
export const errorResponse = (
  { headers: sent, method, url }: HttpServerRequest.HttpServerRequest,
  record: RequestFacts,
  capabilities: Capabilities,
  error: ApiError
): HttpServerResponse.HttpServerResponse => {
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
  if (entry !== null && !errorCodesOf(entry).has(code)) {
    record.violations.push(`${entry.operationId} answered ${code}, which its catalog entry does not list`)
  }
  if (paymentState !== undefined && !canHavePaymentState(code, paymentState)) {
    record.violations.push(`${code} was answered with the paymentState ${paymentState}, which it can't have`)
  }
  if (record.match.route?.audience !== "operator") return HttpServerResponse.jsonUnsafe(body, { status, headers })
  // It names calls of customers.
  const { next: _, ...shown } = body.error
  return HttpServerResponse.jsonUnsafe({ ...body, error: shown }, { status, headers })
}
