import { Effect, Metric } from "effect"
import type { HttpServerRequest } from "effect/http"
import { pathOf } from "./RequestLimits.ts"
import { routeAt } from "./RouteTable.ts"

/** In seconds: from what is answered from memory to what waits for a chain. */
const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Methods are what clients make of them, and must not make a series each. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "OPTIONS"])
const OTHER_METHOD = "other"

const requests = Metric.counter("agentos_http_requests_total", {
  description: "Requests that were answered, and those (499) whose client went away before.",
  incremental: true
})
const durations = Metric.histogram("agentos_http_request_duration_seconds", {
  description: "From a request's headers to its answer.",
  boundaries: BOUNDARIES
})

/** The same labels are one object: what has to be put together for each request is a key. */
const memoized = <A>(make: (attributes: Record<string, string>) => A) => {
  const made = new Map<string, A>()
  return (attributes: Record<string, string>): A => {
    const key = Object.values(attributes).join(" ")
    const known = made.get(key)
    if (known !== undefined) return known
    const one = make(attributes)
    made.set(key, one)
    return one
  }
}
const requestsOf = memoized((attributes) => Metric.withAttributes(requests, attributes))
const durationsOf = memoized((attributes) => Metric.withAttributes(durations, attributes))

/** Counts a request under its route: a path of the tables, never one of the client's. */
export const countRequest = (
  { method, url }: HttpServerRequest.HttpServerRequest,
  status: number,
  durationMillis: number
): Effect.Effect<void> => {
  const route = routeAt(pathOf(url))
  const labels = { route, method: METHODS.has(method) ? method : OTHER_METHOD, status: `${status}` }
  return Effect.andThen(
    Metric.update(requestsOf(labels), 1),
    Metric.update(durationsOf({ route }), durationMillis / 1_000)
  )
}
