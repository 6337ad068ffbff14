import { Effect, Metric, Option } from "effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { readdir, readFile } from "node:fs/promises"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { cpuUsage, memoryUsage } from "node:process"

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

/** The system is asked in a thread of Node's pool, which lookups of names can occupy. */
const ANSWER_WITHIN = "500 millis"
const MICROS_PER_SECOND = 1e6
const NANOS_PER_SECOND = 1e9

/** Runs from the first request for metrics on: a server without such requests does not pay for it. */
const delays = monitorEventLoopDelay({ resolution: 10 })

/** Returns the 99th percentile since the last call in nanoseconds; 0 before there is a measurement. */
const takeDelay = (): number => {
  delays.enable()
  const p99 = delays.count === 0 ? 0 : delays.percentile(99)
  delays.reset()
  return p99
}

/** The open descriptors and their limit; none where the system is not Linux. */
const descriptors = Effect.tryPromise(async () => {
  // One of them reads the list.
  const open = (await readdir("/proc/self/fd")).length - 1
  const limit = /^Max open files +(\d+)/m.exec(await readFile("/proc/self/limits", "utf8"))?.[1]
  return { open, limit: limit === undefined ? undefined : Number(limit) }
}).pipe(
  Effect.timeoutOption(ANSWER_WITHIN),
  Effect.orElseSucceed(() => Option.none())
)

/** Named as prom-client names them, the usual client of Prometheus for Node, so that existing dashboards work. */
const processMetrics = Effect.gen(function* () {
  const { heapUsed, rss } = memoryUsage()
  const { system, user } = cpuUsage()
  const cpuSeconds = (user + system) / MICROS_PER_SECOND
  yield* gauge("process_resident_memory_bytes", "Resident memory of this process.", {}, rss)
  yield* gauge("nodejs_heap_size_used_bytes", "Used memory of the JavaScript heap of the main thread.", {}, heapUsed)
  yield* counter("process_cpu_seconds_total", "Processor time of this process, of all its threads.", {}, cpuSeconds)
  yield* gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "99th percentile of the intervals between turns of a timer of 10 ms, since the last request for metrics.",
    {},
    takeDelay() / NANOS_PER_SECOND
  )
  const files = Option.getOrUndefined(yield* descriptors)
  if (files === undefined) return
  yield* gauge("process_open_fds", "Open file descriptors of this process, sockets included.", {}, files.open)
  if (files.limit === undefined) return
  yield* gauge("process_max_fds", "Maximum number of open file descriptors of this process.", {}, files.limit)
})

/** The metrics of this process, in the text format of Prometheus. */
export const processMetricsText: Effect.Effect<string> = Effect.zipWith(
  PrometheusMetrics.format(),
  formatSeparately(processMetrics),
  (counted, measured) => counted + measured
)
