import { type ErrorCode, type TenantId, Timestamp, Trace } from "@agentos/core"
import { Clock, Context, Effect, type Fiber, Option, References } from "effect"
import type { HttpServerRequest } from "effect/http"
import { recordRequest } from "./RequestTelemetry.ts"
import type { RequestFacts } from "./Route.ts"

/** The entry of a request in the access log: no token, body, query or secret part of a path. */
export interface AccessEntry {
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
  /** Empty if it is not known. */
  readonly address: string
  readonly operation: string | undefined
  readonly tenantId: TenantId | undefined
  readonly code: ErrorCode | undefined
  /** The id of the request whose stored response was repeated. */
  readonly repeats: string | undefined
  /** The id of its trace, if that is recorded. */
  readonly traceId: string | undefined
}

/** Writes the entry of a request that was answered at this moment, by this fiber. */
export type AccessWriter = (entry: AccessEntry, at: Timestamp.Timestamp, fiber: Fiber.Fiber<unknown, unknown>) => void

/**
 * The writer of the access log. By default it is null: Effect's loggers get the entry of each request, as annotations of the
 * message "request" at level Info. A writer of its own takes a fraction of their time.
 */
export const AccessLog = Context.Reference<AccessWriter | null>("@agentos/http-server/edge/AccessLog", {
  defaultValue: () => null
})

const logged = Effect.logInfo("request")

/** Logs a request once, and counts it in the metrics. `shownPath` is its path without secrets. */
export const logAccess = (
  request: HttpServerRequest.HttpServerRequest,
  shownPath: string,
  record: RequestFacts,
  status: number
): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const { code, operation, repeats, requestId, startedAt, tenantId } = record
    const at = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const durationMs = at - startedAt
    recordRequest(fiber, request.method, status, durationMs, record)
    const entry: AccessEntry = {
      requestId,
      method: request.method,
      path: shownPath,
      status,
      durationMs,
      address: Option.getOrElse(request.remoteAddress, () => ""),
      operation,
      tenantId,
      code,
      repeats,
      traceId: Trace.traceIdOf(fiber)
    }
    const write = fiber.getRef(AccessLog)
    if (write === null) {
      return Effect.provideService(logged, References.CurrentLogAnnotations, {
        ...fiber.getRef(References.CurrentLogAnnotations),
        ...entry
      })
    }
    write(entry, Timestamp.fromMillis(Math.floor(at)), fiber)
    return Effect.void
  })
