import { type ApiError, toWireError } from "@agentos/api"
import type { CatalogEntry } from "@agentos/core"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { pathOf } from "./RequestLimits.ts"
import { RequestRecord } from "./RequestRecord.ts"

/** Returns the response to a failed request. `entry` is null if the request matches no operation. */
export const errorResponse = Effect.fnUntraced(function* (error: ApiError, entry: CatalogEntry | null) {
  const { headers: sent, method, url } = yield* HttpServerRequest.HttpServerRequest
  const record = yield* RequestRecord
  const { body, headers, status } = toWireError(error, {
    requestId: record.requestId,
    method,
    path: pathOf(url),
    entry,
    hasUnknownPayment: Boolean(sent["payment-signature"]) && record.isPaymentUnused !== true
  })
  record.code = body.error.code
  return HttpServerResponse.jsonUnsafe(body, { status, headers })
})
