import {
  FIGURES_LIMIT,
  type Job,
  type JobRecord,
  Jobs,
  JobStore,
  type OpenOperations,
  PaymentRail,
  type PaymentTerms,
  readFigures,
  Sales,
  type StoreFigures,
  type Token,
  Usdt,
  type WaitingMessages
} from "@agentos/core"
import { Clock, Duration, Effect, Option } from "effect"
import { type DatabaseConnectionCount, DatabaseState, type TableSize } from "../DatabaseState.ts"
import { counter, formatSeparately, gauge, processMetricsText } from "../health/ProcessMetrics.ts"
import { Readiness } from "../health/Readiness.ts"
import { mergeWorkerMetrics, WorkerMetrics } from "../WorkerMetrics.ts"

/** A slower database is reported as down, so that the metrics of this server itself still appear. */
const ANSWER_WITHIN = Duration.seconds(2)
/** Every job of the host with its stored record, which is undefined before the first run. */
export const knownJobs = Effect.gen(function* () {
  const store = yield* JobStore
  const jobs = yield* Jobs
  return Effect.map(store.list, (records) => withRecords(jobs, records))
})

const withRecords = (jobs: ReadonlyArray<Job>, records: ReadonlyArray<JobRecord>) =>
  jobs.map((job) => ({ job, record: records.find(({ name }) => name === job.name) }))

interface KnownJob {
  readonly job: Job
  readonly record: JobRecord | undefined
}

const jobMetrics = Effect.fnUntraced(function* (jobs: ReadonlyArray<KnownJob>, now: number) {
  for (const { job, record } of jobs) {
    const of = { job: job.name }
    yield* counter("agentos_job_runs_total", "Job runs started, on all servers.", of, record?.runs ?? 0)
    yield* counter("agentos_job_failures_total", "Job runs that failed.", of, record?.failures ?? 0)
    yield* counter("agentos_job_done_total", "Items processed in all runs of the job.", of, record?.done ?? 0)
    const isRunning = (record?.leasedUntil ?? 0) > now
    yield* gauge("agentos_job_running", "1 while a server runs the job.", of, isRunning ? 1 : 0)
    const succeededAt = (record?.succeededAt ?? 0) / 1_000
    yield* gauge(
      "agentos_job_last_success_timestamp_seconds",
      "Time of the last successful run; 0 before the first.",
      of,
      succeededAt
    )
    const overdue = Math.max(0, now - (record?.dueAt ?? now)) / 1_000
    yield* gauge(
      "agentos_job_overdue_seconds",
      "Seconds since the job became due without a run.",
      of,
      isRunning ? 0 : overdue
    )
  }
})

const operationMetrics = Effect.fnUntraced(function* (open: ReadonlyArray<OpenOperations>, now: number) {
  for (const [state, some] of Map.groupBy(open, ({ state }) => state)) {
    const description = `Open paid operations by state, counted up to the ${FIGURES_LIMIT} that are due first.`
    const total = some.reduce((sum, { count }) => sum + count, 0)
    yield* gauge("agentos_operations_open", description, { state }, total)
    const age = Math.max(0, now - Math.min(...some.map(({ oldestAt }) => oldestAt))) / 1_000
    yield* gauge("agentos_operations_open_oldest_seconds", "Age of the oldest open operation.", { state }, age)
  }
})

/** Tokens that are accepted are reported without refunds, too; others only with some. */
const refundMetrics = Effect.fnUntraced(function* (
  open: ReadonlyArray<OpenOperations>,
  accepted: ReadonlyArray<PaymentTerms>
) {
  const due = open.filter(({ state }) => state === "refund_due")
  const none = accepted.map(({ asset, network }) => ({ network, asset: asset.toLowerCase(), amount: 0n }))
  const unitOf = (token: Token) => {
    const terms = accepted.find(
      ({ asset, network }) => network === token.network && asset.toLowerCase() === token.asset
    )
    return 10n ** BigInt(Number(terms?.extra["decimals"] ?? Usdt.DECIMALS) - Usdt.DECIMALS)
  }
  for (const some of Map.groupBy([...none, ...due], ({ asset, network }) => `${network} ${asset}`).values()) {
    const { asset, network } = some[0]!
    const total = some.reduce((sum, { amount }) => sum + amount, 0n)
    const description = `Amount of the open operations that are due back to their payers, of the ${FIGURES_LIMIT} due first.`
    yield* gauge(
      "agentos_refunds_due_usdt",
      description,
      { network, asset },
      Number(Usdt.toDecimal(total / unitOf({ asset, network })))
    )
  }
})

const messageMetrics = Effect.fnUntraced(function* (waiting: WaitingMessages, now: number) {
  const { deferred, firstDueAt, scheduled } = waiting
  for (const [state, count] of Object.entries({ scheduled, deferred })) {
    const description = `Outbound messages that wait for an attempt, counted up to the ${FIGURES_LIMIT} that are due first.`
    yield* gauge("agentos_messages_waiting", description, { state }, count)
  }
  const overdue = Math.max(0, now - (firstDueAt ?? now)) / 1_000
  yield* gauge(
    "agentos_messages_overdue_seconds",
    "Seconds since the first outbound message became due without an attempt.",
    {},
    overdue
  )
})

const backlogMetrics = Effect.fnUntraced(function* (
  { failingMails, mails, webhooks }: Pick<StoreFigures, "failingMails" | "mails" | "webhooks">,
  now: number
) {
  const secondsSince = (since: number | null) => Math.max(0, now - (since ?? now)) / 1_000
  const mailsWaiting = `Accepted mails that no mailbox has yet, counted up to ${FIGURES_LIMIT}.`
  yield* gauge("agentos_inbound_mails_waiting", mailsWaiting, {}, mails.count)
  const oldest = "Seconds since the oldest of them was accepted."
  yield* gauge("agentos_inbound_mails_oldest_seconds", oldest, {}, secondsSince(mails.since))
  const failing = "Those of them whose last delivery failed, counted up to 1,000."
  yield* gauge("agentos_inbound_mails_failing", failing, {}, failingMails.count)
  const webhooksDue = `Event webhooks with an event to send now, counted up to ${FIGURES_LIMIT}.`
  yield* gauge("agentos_webhooks_due", webhooksDue, {}, webhooks.count)
  const overdue = "Seconds since the first of them became due."
  yield* gauge("agentos_webhooks_overdue_seconds", overdue, {}, secondsSince(webhooks.since))
})

const connectionMetrics = Effect.fnUntraced(function* (limit: number, byState: ReadonlyArray<DatabaseConnectionCount>) {
  yield* gauge("agentos_database_connections_max", "Maximum connections of the database server.", {}, limit)
  for (const { count, state } of byState) {
    const description = "Connections to the database from all servers, by state."
    yield* gauge("agentos_database_connections", description, { state }, count)
  }
})

const tableMetrics = Effect.fnUntraced(function* (tables: ReadonlyArray<TableSize>) {
  for (const { bytes, name } of tables) {
    const description = "Size of a table with its indexes and large values, as of its last vacuum."
    yield* gauge("agentos_table_bytes", description, { table: name }, bytes)
  }
})

/**
 * All metrics in Prometheus text format 0.0.4: first those of this server, of each of its workers, then those of the store about all servers,
 * which take one bounded query each. Labels contain states, routes, jobs and tables, of which there are few, and never a
 * tenant.
 */
export const metricsText = Effect.gen(function* () {
  const jobs = yield* Jobs
  const rail = yield* PaymentRail
  const stores = yield* Effect.context<Effect.Services<typeof readFigures>>()
  const database = yield* DatabaseState
  const { check } = yield* Readiness
  const { stopped, stoppedNetworks } = yield* Sales

  const storeFigures = Effect.all(
    {
      figures: Effect.provideContext(readFigures, stores),
      database: database ?? Effect.succeed(undefined)
    },
    { concurrency: "unbounded" }
  ).pipe(
    Effect.timeoutOption(ANSWER_WITHIN),
    Effect.catchCause((cause) => Effect.as(Effect.logWarning("store metrics could not be read", cause), Option.none()))
  )

  const storeMetrics = Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const [answer, isReady] = yield* Effect.all([storeFigures, check], { concurrency: "unbounded" })
    const now = yield* Clock.currentTimeMillis
    yield* gauge(
      "agentos_database_up",
      "1 if the database answered this request for metrics and can commit.",
      {},
      Option.isSome(answer) && isReady ? 1 : 0
    )
    const took = (now - startedAt) / 1_000
    yield* gauge(
      "agentos_database_answer_seconds",
      "Duration of the answer, including the wait for a connection.",
      {},
      took
    )
    if (Option.isNone(answer)) return
    const { figures } = answer.value
    const { jobs: records, open, waiting } = figures
    yield* jobMetrics(withRecords(jobs, records), now)
    yield* operationMetrics(open, now)
    yield* refundMetrics(open, rail.terms(0n))
    yield* messageMetrics(waiting, now)
    yield* backlogMetrics(figures, now)
    yield* gauge(
      "agentos_sales_stopped",
      "Services and networks whose sale the operator has stopped.",
      {},
      (yield* stopped).size + stoppedNetworks().size
    )
    if (answer.value.database === undefined) return
    const { connections, tables } = answer.value.database
    yield* tableMetrics(tables)
    if (connections !== undefined) yield* connectionMetrics(connections.limit, connections.byState)
  })

  const workers = yield* WorkerMetrics
  const served = workers === undefined ? processMetricsText : Effect.map(workers, mergeWorkerMetrics)
  return Effect.zipWith(served, formatSeparately(storeMetrics), (own, stored) => own + stored)
})
