import { Trace } from "@agentos/core"
import { Cause, Clock, Effect, Exit, Layer, Option, Redacted, References, Tracer } from "effect"
import { FetchHttpClient, Headers, HttpTraceContext } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"

/** Where traces are sent, and how many. */
export interface TraceExport {
  /** Receives OTLP over HTTP as JSON, for example `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string
  /** Headers of each request to it. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  /** One in this many of the traces that begin here is recorded. */
  readonly oneIn: number
}

/** Traces recorded in a second. Strangers can ask for the recording of theirs. */
const PER_SECOND_MAX = 100

const EXPORT_INTERVAL = "2 seconds"
const SHUTDOWN_TIMEOUT = "2 seconds"
const REQUEST_TIMEOUT_MILLIS = 5_000

/**
 * Returns a fetch that gives up an answer, with its body, after a time. The exporter bounds neither the time of a request nor
 * the number of those under way.
 */
export const fetchWithin =
  (millis: number): typeof fetch =>
  (input, init) => {
    const timeout = AbortSignal.timeout(millis)
    return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout })
  }

/** The attributes that are exported. Others, such as URLs, may hold secrets and addresses of people. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  "agentos.operation",
  "agentos.request_id",
  "agentos.tenant_id",
  "db.operation.name",
  "db.query.text",
  "db.system.name",
  "error.type",
  "http.request.method",
  "http.response.status_code",
  "http.route"
])

const typeOf = (error: unknown): string => {
  const { _tag, name } = Object(error) as { readonly _tag?: unknown; readonly name?: unknown }
  return typeof _tag === "string" ? _tag : typeof name === "string" ? name : "Error"
}

/** Returns the exit with the type of its error alone: messages repeat what people and providers wrote. */
const withoutMessages = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit)) return Exit.void
  if (Cause.hasInterruptsOnly(exit.cause)) return exit
  const name = typeOf(Option.getOrElse(Exit.findErrorOption(exit), () => Cause.squash(exit.cause)))
  return Exit.fail(Object.assign(new Error(name), { name, stack: "" }))
}

const withoutContent = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = tracer.span(options)
      const attribute = span.attribute.bind(span)
      const end = span.end.bind(span)
      return Object.assign(span, {
        attribute: (name: string, value: unknown) => (ATTRIBUTES.has(name) ? attribute(name, value) : undefined),
        end: (time: bigint, exit: Exit.Exit<unknown, unknown>) => end(time, withoutMessages(exit)),
        event: () => undefined
      })
    }
  })

const parentOf: Trace.Recorder["parentOf"] = (traceparent) => {
  const parent = Option.getOrUndefined(HttpTraceContext.w3c(Headers.fromInput({ traceparent })))
  return parent?.sampled === true ? parent : undefined
}

/** Admits one in so many of the traces that begin here, those that others record, and in total a bounded number each second. */
export const admission = (oneIn: number, nowMillis: () => number): Trace.Recorder["admits"] => {
  let begun = 0
  let second = -1
  let admitted = 0
  return (isContinued) => {
    if (!isContinued && begun++ % oneIn !== 0) return false
    const current = Math.floor(nowMillis() / 1_000)
    if (current !== second) {
      second = current
      admitted = 0
    }
    return admitted++ < PER_SECOND_MAX
  }
}

/**
 * Records traces and sends them every two seconds. They name methods, routes, statements without their values, tenants and
 * types of errors; no other content. While the receiver is not available, they are dropped.
 */
export const traceLayer = (traces: TraceExport | null) => {
  // Otherwise, Effect would make a span for each statement, and no receiver would get it.
  const untraced = Layer.succeed(References.TracerEnabled, false)
  if (traces === null) return untraced
  const recorder = Layer.effect(
    Trace.TraceRecorder,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const tracer = yield* OtlpTracer.make({
        url: traces.url,
        headers: Redacted.value(traces.headers),
        resource: { serviceName: "agentos" },
        exportInterval: EXPORT_INTERVAL,
        shutdownTimeout: SHUTDOWN_TIMEOUT
      })
      return {
        tracer: withoutContent(tracer),
        parentOf,
        admits: admission(traces.oneIn, () => clock.currentTimeMillisUnsafe())
      }
    })
  ).pipe(
    Layer.provide(OtlpExporter.layerFlusher),
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetchWithin(REQUEST_TIMEOUT_MILLIS)))
  )
  return Layer.merge(recorder, untraced)
}
