import { type Job, Jobs, JobStore, type JobRecord, OperationStore, type OpenOperations } from "@agentos/core"
import { Clock, Duration, Effect, Metric, Option } from "effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { DatabaseConnections, type DatabaseConnectionCount } from "../DatabaseConnections.ts"

/** A slower database is reported as down, so that the metrics of this server itself still appear. */
const ANSWER_WITHIN = Duration.seconds(2)
/** Maximum number of operations that are counted. */
const OPEN_LIMIT = 10_000

/** Every job of the host with its stored record, which is undefined before the first run. */
export const knownJobs = Effect.gen(function* () {
  const store = yield* JobStore
  const jobs = yield* Jobs
  return Effect.map(store.list, (records) =>
    jobs.map((job) => ({ job, record: records.find(({ name }) => name === job.name) }))
  )
})

interface KnownJob {
  readonly job: Job
  readonly record: JobRecord | undefined
}

const counter = (id: string, description: string, attributes: Record<string, string>, value: number) =>
  Metric.update(Metric.counter(id, { description, attributes, incremental: true }), value)

const gauge = (id: string, description: string, attributes: Record<string, string>, value: number) =>
  Metric.update(Metric.gauge(id, { description, attributes }), value)

const jobMetrics = Effect.fnUntraced(function* (jobs: ReadonlyArray<KnownJob>, now: number) {
  for (const { job, record } of jobs) {
    const of = { job: job.name }
    yield* counter("agentos_job_runs_total", "Runs that were begun, by any server.", of, record?.runs ?? 0)
    yield* counter("agentos_job_failures_total", "Runs that failed.", of, record?.failures ?? 0)
    yield* counter("agentos_job_done_total", "Things that the job has done in all its runs.", of, record?.done ?? 0)
    const isRunning = (record?.leasedUntil ?? 0) > now
    yield* gauge("agentos_job_running", "1 while a server is at it.", of, isRunning ? 1 : 0)
    const succeededAt = (record?.succeededAt ?? 0) / 1_000
    yield* gauge("agentos_job_last_success_timestamp_seconds", "0 before the first.", of, succeededAt)
    const overdue = Math.max(0, now - (record?.dueAt ?? now)) / 1_000
    yield* gauge("agentos_job_overdue_seconds", "For how long it has been due, unrun.", of, isRunning ? 0 : overdue)
  }
})

const operationMetrics = Effect.fnUntraced(function* (open: ReadonlyArray<OpenOperations>, now: number) {
  for (const { count, oldestAt, state } of open) {
    const description = `Paid operations that are not final, by state (of the ${OPEN_LIMIT} that are due first).`
    yield* gauge("agentos_operations_open", description, { state }, count)
    const age = Math.max(0, now - oldestAt) / 1_000
    yield* gauge("agentos_operations_open_oldest_seconds", "Age of the oldest of them.", { state }, age)
  }
})

const connectionMetrics = Effect.fnUntraced(function* (limit: number, byState: ReadonlyArray<DatabaseConnectionCount>) {
  yield* gauge("agentos_database_connections_max", "Connections that the database server takes.", {}, limit)
  for (const { count, state } of byState) {
    const description = "Connections to the database, those of all its servers, by what they do."
    yield* gauge("agentos_database_connections", description, { state }, count)
  }
})

/** Uses a separate registry, so that a state without operations is not reported with an old value. */
const inRegistryOfItsOwn = <R>(metrics: Effect.Effect<void, never, R>) =>
  Effect.suspend(() =>
    Effect.provideService(Effect.andThen(metrics, PrometheusMetrics.format()), Metric.MetricRegistry, new Map())
  )

/**
 * All metrics in Prometheus text format 0.0.4: first those of this server, then those of the store about all servers,
 * which take one bounded query each. Labels contain states, routes and jobs, of which there are few, and never a
 * tenant.
 */
export const metricsText = Effect.gen(function* () {
  const jobs = yield* knownJobs
  const operations = yield* OperationStore
  const connections = yield* DatabaseConnections

  const asked = Effect.all(
    { jobs, open: operations.countOpen(OPEN_LIMIT), connections: connections ?? Effect.succeed(undefined) },
    { concurrency: "unbounded" }
  ).pipe(
    Effect.timeoutOption(ANSWER_WITHIN),
    Effect.catchCause((cause) =>
      Effect.as(Effect.logWarning("the figures of the store could not be read", cause), Option.none())
    )
  )

  const storeMetrics = Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const answer = yield* asked
    const now = yield* Clock.currentTimeMillis
    yield* gauge("agentos_database_up", "Whether the database answered just now.", {}, Option.isSome(answer) ? 1 : 0)
    const took = (now - startedAt) / 1_000
    yield* gauge("agentos_database_answer_seconds", "How long that took, the wait for a connection included.", {}, took)
    if (Option.isNone(answer)) return
    yield* jobMetrics(answer.value.jobs, now)
    yield* operationMetrics(answer.value.open, now)
    if (answer.value.connections === undefined) return
    yield* connectionMetrics(answer.value.connections.limit, answer.value.connections.byState)
  })

  return Effect.zipWith(PrometheusMetrics.format(), inRegistryOfItsOwn(storeMetrics), (own, stored) => own + stored)
})
