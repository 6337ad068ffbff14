import { Trace } from "@agentos/core"
import { type Fiber, Metric } from "effect"
import type { RequestFacts } from "./Route.ts"

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

/** Counts and times a request in the metrics, and describes it in the span of its trace, if any. */
export const recordRequest = (
  fiber: Fiber.Fiber<unknown, unknown>,
  method: string,
  status: number,
  durationMillis: number,
  { code, match, operation, requestId, tenantId }: RequestFacts
): void => {
  // A template, and never a path that a client made up.
  const route = match.template
  const { counter, histogram } = countingOf(route, methodOf(method), `${status}`)
  counter.updateUnsafe(1, fiber.context)
  histogram.updateUnsafe(durationMillis / 1_000, fiber.context)
  Trace.annotate(fiber, {
    "agentos.operation": operation,
    "agentos.request_id": requestId,
    "agentos.tenant_id": tenantId,
    "error.type": code,
    "http.request.method": methodOf(method),
    "http.response.status_code": status,
    "http.route": route
  })
}
