import { Clock, Effect, Exit, Option } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { countRequest } from "./RequestMetrics.ts"
import type { RequestFacts } from "./RequestRecord.ts"

/** Nginx's status for a client that closed the connection before the response. */
const CLIENT_GONE = 499

/**
 * Logs one line per request and counts it in the metrics: client, operation, result and duration. Logs no token, body
 * or query. `shownPath` is the path without secrets.
 */
export const logAccess = (
  request: HttpServerRequest.HttpServerRequest,
  shownPath: string,
  record: RequestFacts,
  exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>
): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const { code, match, operation, repeats, startedAt, tenantId } = record
    const durationMs = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() - startedAt
    const status = Exit.isSuccess(exit) ? exit.value.status : CLIENT_GONE
    countRequest(match.template, request.method, status, durationMs, fiber.context)
    return Effect.annotateLogs(Effect.logInfo("request"), {
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
  })
