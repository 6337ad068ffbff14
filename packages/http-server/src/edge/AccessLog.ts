import { Clock, Effect, Option } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { countRequest } from "./RequestMetrics.ts"
import type { RequestRecord } from "./RequestRecord.ts"

/** Nginx's status for a client that closed the connection before the response. */
const CLIENT_GONE = 499

/**
 * Logs one line per request and counts it in the metrics: client, operation, result and duration. Logs no token, body
 * or query. `shownPath` is the path without secrets, and `route` its template.
 */
export const logAccess = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  route: string,
  shownPath: string,
  record: RequestRecord["Service"],
  startedAt: number,
  response: Option.Option<HttpServerResponse.HttpServerResponse>
) {
  const { code, operation, repeats, tenantId } = record
  const durationMs = (yield* Clock.currentTimeMillis) - startedAt
  const status = Option.match(response, { onNone: () => CLIENT_GONE, onSome: ({ status }) => status })
  yield* countRequest(route, request.method, status, durationMs)
  yield* Effect.logInfo("request").pipe(
    Effect.annotateLogs({
      method: request.method,
      path: shownPath,
      status,
      durationMs,
      address: Option.getOrElse(request.remoteAddress, () => ""),
      operation,
      tenantId,
      code,
      repeats
    })
  )
})
