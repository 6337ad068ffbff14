import { type ErrorCode, type TenantId, Timestamp, Trace } from "@agentos/core"
import { Clock, Context, Effect, type Fiber, Metric, Option, References } from "effect"
import type { HttpServerRequest } from "effect/http"
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
    const { code, match, operation, repeats, requestId, startedAt, tenantId } = record
    const at = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const durationMs = at - startedAt
    countRequest(match.template, request.method, status, durationMs, fiber.context)
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
    Trace.annotate(fiber, {
      "agentos.operation": operation,
      "agentos.request_id": requestId,
      "agentos.tenant_id": tenantId,
      "error.type": code,
      "http.request.method": methodOf(request.method),
      "http.response.status_code": status,
      "http.route": match.template
    })
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

/** In seconds: from responses served from memory to responses that wait for a chain. */
const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Clients choose methods freely, so unknown ones must not create a time series each. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "OPTIONS"])
const OTHER_METHOD = "other"

/** Returns a method of HTTP as metrics and traces have it. */
export const methodOf = (method: string): string => (METHODS.has(method) ? method : OTHER_METHOD)

const requestsOf = (attributes: Readonly<Record<"route" | "method" | "status", string>>) =>
  Metric.counter("agentos_http_requests_total", {
    description: "Requests by route, method and status; 499 if the client disconnected before the response.",
    incremental: true,
    attributes
  })

const durationsOf = (attributes: Readonly<Record<"route", string>>) =>
  Metric.histogram("agentos_http_request_duration_seconds", {
    description: "Time from the headers of a request to its response.",
    boundaries: BOUNDARIES,
    attributes
  })

interface Counting {
  readonly counter: ReturnType<typeof requestsOf>
  readonly histogram: ReturnType<typeof durationsOf>
}

/** Metrics are made once for each combination of labels, because requests are many and combinations are few. */
const countings = new Map<string, Counting>()

const countingOf = (route: string, method: string, status: string): Counting => {
  const key = `${route} ${method} ${status}`
  const known = countings.get(key)
  if (known !== undefined) return known
  const made = { counter: requestsOf({ route, method, status }), histogram: durationsOf({ route }) }
  countings.set(key, made)
  return made
}

/** Counts a request under its route, which is always a template and never a path that a client made up. */
export const countRequest = (
  route: string,
  method: string,
  status: number,
  durationMillis: number,
  context: Context.Context<never>
): void => {
  const { counter, histogram } = countingOf(route, methodOf(method), `${status}`)
  counter.updateUnsafe(1, context)
  histogram.updateUnsafe(durationMillis / 1_000, context)
}
