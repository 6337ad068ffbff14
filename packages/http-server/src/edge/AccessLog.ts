import { Clock, Effect, Option, References } from "effect"
import type { HttpServerRequest } from "effect/http"
import { countRequest } from "./RequestMetrics.ts"
import type { RequestFacts } from "./Route.ts"

const written = Effect.logInfo("request")

/**
 * Logs one line per request and counts it in the metrics: client, operation, result and duration. Logs no token, body
 * or query. `shownPath` is the path without secrets.
 */
export const logAccess = (
  request: HttpServerRequest.HttpServerRequest,
  shownPath: string,
  record: RequestFacts,
  status: number
): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const { code, match, operation, repeats, requestId, startedAt, tenantId } = record
    const durationMs = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() - startedAt
    countRequest(match.template, request.method, status, durationMs, fiber.context)
    return Effect.provideService(written, References.CurrentLogAnnotations, {
      ...fiber.getRef(References.CurrentLogAnnotations),
      requestId,
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
