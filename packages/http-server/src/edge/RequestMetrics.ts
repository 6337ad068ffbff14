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

/** What the same requests are counted by is put together once: they are many, and the kinds of them few. */
const countings = new Map<string, { readonly counter: typeof requests; readonly histogram: typeof durations }>()

const countingOf = (route: string, method: string, status: string) => {
  const key = `${route} ${method} ${status}`
  const known = countings.get(key)
  if (known !== undefined) return known
  const made = {
    counter: Metric.withAttributes(requests, { route, method, status }),
    histogram: Metric.withAttributes(durations, { route })
  }
  countings.set(key, made)
  return made
}

/** Counts a request under its route: a path of the tables, never one of the client's. */
export const countRequest = (
  { method, url }: HttpServerRequest.HttpServerRequest,
  status: number,
  durationMillis: number
): Effect.Effect<void> =>
  Effect.map(Effect.context<never>(), (context) => {
    const kind = METHODS.has(method) ? method : OTHER_METHOD
    const { counter, histogram } = countingOf(routeAt(pathOf(url)), kind, `${status}`)
    counter.updateUnsafe(1, context)
    histogram.updateUnsafe(durationMillis / 1_000, context)
  })
