import { InternalError } from "@agentos/api"
import { Conflict, JobRunner, ResourceNotFound, Timestamp } from "@agentos/core"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Doctor } from "../../Doctor.ts"
import { knownJobs, metricsText } from "../OperatorMetrics.ts"
import { type Answer, dataResponse, long, mutation, parameter, read } from "./OperatorRoute.ts"

/** The content type that Prometheus expects. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

const momentOf = (moment: Timestamp.Timestamp | null | undefined): string | null =>
  moment === null || moment === undefined ? null : Timestamp.toIso(moment)

/** Lists the jobs with their state over all servers. */
const listJobs = Effect.map(knownJobs, (known): Answer =>
  Effect.flatMap(known, (jobs) =>
    dataResponse({
      items: jobs.map(({ job, record }) => ({
        name: job.name,
        everySeconds: job.every / 1_000,
        dueAt: momentOf(record?.dueAt),
        leasedUntil: momentOf(record?.leasedUntil),
        startedAt: momentOf(record?.startedAt),
        succeededAt: momentOf(record?.succeededAt),
        failedAt: momentOf(record?.failedAt),
        failure: record?.failure ?? null,
        runs: record?.runs ?? 0,
        failures: record?.failures ?? 0,
        done: record?.done ?? 0
      }))
    })
  )
)

/** Runs a job now, for a host with its own scheduler. The message of a failure appears in the list and in the log. */
const runJob = Effect.map(JobRunner, (runner): Answer =>
  Effect.gen(function* () {
    const name = yield* parameter("name")
    const done = yield* runner.runNow(name).pipe(
      Effect.catchTags({
        JobUnknown: () => Effect.fail(new ResourceNotFound({ kind: "job", id: name })),
        JobBusy: () =>
          Effect.fail(new Conflict({ message: `The job ${name} is already running. Wait until it ends.` })),
        JobFailed: () => Effect.fail(new InternalError({ withPayment: false }))
      })
    )
    return yield* dataResponse({ name, done })
  })
)

const showMetrics = Effect.map(metricsText, (metrics): Answer =>
  Effect.map(metrics, (text) => HttpServerResponse.text(text, { contentType: METRICS_TYPE }))
)

export const routes = Effect.gen(function* () {
  const doctor = yield* Doctor
  return [
    ...(doctor === undefined ? [] : [long(read("doctor", "/internal/doctor", Effect.flatMap(doctor, dataResponse)))]),
    read("jobs", "/internal/jobs", yield* listJobs),
    long(mutation("runJob", "support", "job.run", "/internal/jobs/{name}/run", yield* runJob)),
    read("metrics", "/internal/metrics", yield* showMetrics)
  ]
})
