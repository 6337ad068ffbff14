import { Context, Effect, type Fiber, Option, References, Tracer } from "effect"

/** Records traces. */
export interface Recorder {
  readonly tracer: Tracer.Tracer
  /** Returns the span that W3C's traceparent names; undefined if it is malformed, or its sender does not record it. */
  readonly parentOf: (traceparent: string) => Tracer.ExternalSpan | undefined
  /** Whether a trace is recorded that begins here, or whose earlier part another program or server recorded. */
  readonly admits: (isContinued: boolean) => boolean
}

/** The recorder of this process; null if it records no traces. */
export const TraceRecorder = Context.Reference<Recorder | null>("@agentos/core/kernel/TraceRecorder", {
  defaultValue: () => null
})

const spanOf = (fiber: Fiber.Fiber<unknown, unknown>): Tracer.Span | undefined => {
  if (!fiber.getRef(References.TracerEnabled)) return undefined
  const span = Option.getOrUndefined(Context.getOption(fiber.context, Tracer.ParentSpan))
  return span?._tag === "Span" && span.sampled ? span : undefined
}

/** The traceparent of the span in which this runs; null outside of recorded traces. */
export const traceparent: Effect.Effect<string | null> = Effect.withFiber((fiber) => {
  const span = spanOf(fiber)
  return Effect.succeed(span === undefined ? null : `00-${span.traceId}-${span.spanId}-01`)
})

/** Returns the id of the trace in which a fiber runs; undefined outside of recorded traces. */
export const traceIdOf = (fiber: Fiber.Fiber<unknown, unknown>): string | undefined => spanOf(fiber)?.traceId

type Attributes = Readonly<Record<string, string | number | undefined>>

/** Adds attributes to the span in which a fiber runs. */
export const annotate = (fiber: Fiber.Fiber<unknown, unknown>, attributes: Attributes): void => {
  const span = spanOf(fiber)
  if (span === undefined) return
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) span.attribute(name, value)
}

const inSpan = (name: string, options: Tracer.SpanOptionsNoTrace) =>
  Effect.withSpan(name, options, { captureStackTrace: false })

interface TraceOptions {
  readonly kind?: Tracer.SpanKind
  /** The traceparent of the trace to continue. Without one, a trace begins. */
  readonly continues?: string | null | undefined
}

/**
 * Runs an effect in a span of the trace in which it runs. Outside of one, a trace begins here, or that of another program is
 * continued; the log has its id. A trace that the recorder does not admit has no spans.
 */
export const trace =
  (name: string, { continues, kind = "internal" }: TraceOptions = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      const recorder = fiber.getRef(TraceRecorder)
      if (recorder === null) return effect
      if (continues === undefined && spanOf(fiber) !== undefined) return inSpan(name, { kind })(effect) as typeof effect
      const parent = typeof continues === "string" ? recorder.parentOf(continues) : undefined
      if (!recorder.admits(parent !== undefined)) return effect
      const logged = Effect.withFiber<A, E, R>((inner) => Effect.annotateLogs(effect, { traceId: traceIdOf(inner) }))
      return logged.pipe(
        inSpan(name, { kind, ...(parent === undefined ? { root: true } : { parent }) }),
        Effect.provideService(Tracer.Tracer, recorder.tracer),
        Effect.provideService(References.TracerEnabled, true)
      ) as Effect.Effect<A, E, R>
    })

/** Like `trace`, for work that belongs to a trace of another server, and has none of its own. */
export const continued =
  (name: string, traceparent: string | null) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    traceparent === null ? effect : trace(name, { continues: traceparent })(effect)

/** Runs an effect in a span of the trace in which it runs, if any. */
export const span =
  (name: string, kind: Tracer.SpanKind = "internal") =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) =>
      spanOf(fiber) !== undefined ? (inSpan(name, { kind })(effect) as Effect.Effect<A, E, R>) : effect
    )
