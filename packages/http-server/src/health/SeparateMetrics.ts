import { Effect, Metric } from "effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"

/** Sets a counter of a separate registry to its total. */
export const counter = (id: string, description: string, attributes: Record<string, string>, total: number) =>
  Metric.update(Metric.counter(id, { description, attributes, incremental: true }), total)

export const gauge = (id: string, description: string, attributes: Record<string, string>, value: number) =>
  Metric.update(Metric.gauge(id, { description, attributes }), value)

/**
 * Formats metrics that are read anew for each request, in a registry of their own. So a counter is its total, and a series
 * that is not reported any more does not keep its old value.
 */
export const formatSeparately = <R>(metrics: Effect.Effect<void, never, R>) =>
  Effect.suspend(() =>
    Effect.provideService(Effect.andThen(metrics, PrometheusMetrics.format()), Metric.MetricRegistry, new Map())
  )
