import { Failure } from "@agentos/node/command-line"
import { defineCommand, REASON_FLAG, reasonOf, runEffect, shownTime } from "./ServerCommand.ts"

export const JOBS_LIST = defineCommand(
  {
    name: "jobs list",
    summary: "Show the periodic jobs, with their last and next runs",
    description:
      "Reads the state of the jobs over all servers from the database. A job appears after its first run. Needs DATABASE_URL or AGENTOS_DATA_DIR only; an embedded database has one user at a time.",
    examples: [{ line: "agentos-server jobs list", does: "Find a job that fails" }],
    output: "rows",
    json: "{items: [{name, dueAt, isRunning, startedAt, succeededAt, failedAt, failure, runs, failures, done}]}"
  },
  async (context) => {
    const { Clock, Effect } = await import("effect")
    const { Timestamp } = await import("@agentos/core")
    const ServerConfig = await import("../config/ServerConfig.ts")
    const { listJobs } = await import("../program/Maintenance.ts")
    const { jobs, now } = await runEffect(
      context,
      Effect.all({
        jobs: Effect.flatMap(ServerConfig.readStorage(context.host.env), listJobs),
        now: Clock.currentTimeMillis
      })
    )
    const iso = (time: number | null) => (time === null ? null : Timestamp.toIso(Timestamp.Timestamp.make(time)))
    const items = jobs.map((job) => ({
      name: job.name,
      dueAt: iso(job.dueAt),
      isRunning: job.leasedUntil !== null && job.leasedUntil > now,
      startedAt: iso(job.startedAt),
      succeededAt: iso(job.succeededAt),
      failedAt: iso(job.failedAt),
      failure: job.failure,
      runs: job.runs,
      failures: job.failures,
      done: job.done
    }))
    const shown = (time: string | null) => time && shownTime(time)
    context.output.table(
      { items },
      items,
      [
        { heading: "JOB", value: ({ name }) => name, whole: true },
        { heading: "LAST RUN", value: ({ startedAt }) => shown(startedAt), whole: true },
        { heading: "NEXT RUN", value: ({ dueAt, isRunning }) => (isRunning ? "running" : shown(dueAt)), whole: true },
        { heading: "RUNS", value: ({ runs }) => runs },
        { heading: "FAILED", value: ({ failures }) => failures },
        { heading: "LAST ERROR", value: ({ failure }) => failure, wraps: true }
      ],
      "No job has run yet."
    )
  }
)

export const JOBS_RUN = defineCommand(
  {
    name: "jobs run",
    summary: "Run a periodic job now",
    description:
      "Runs the job once, due or not, under the same lease as servers do: a job runs in one place at a time. Uses the whole configuration.",
    arguments: [{ name: "job", summary: "Name of the job.", presence: "required" }],
    flags: [REASON_FLAG],
    examples: [
      {
        line: "agentos-server jobs run ledger-audit",
        does: "Compare the ledger with the operations, and with the last day of the chain"
      }
    ],
    output: "record",
    json: "{name, done}",
    exits: [5, 6]
  },
  async (context, { arguments: { job: name }, flags: { reason } }) => {
    const { Effect } = await import("effect")
    const ServerConfig = await import("../config/ServerConfig.ts")
    const { runJob } = await import("../program/Maintenance.ts")
    const { JobBusy, JobUnknown } = await import("@agentos/core")
    const given = await reasonOf(reason)
    const done = await runEffect(
      context,
      Effect.flatMap(ServerConfig.read(context.host.env), (config) => runJob(config, name, given)),
      (error) => {
        if (error instanceof JobBusy)
          return new Failure({ code: "LOCKED", message: `${name} is running already. Wait until it ends.` })
        if (error instanceof JobUnknown)
          return new Failure({
            code: "NOT_FOUND",
            message: `${name} is not a job of this server.`,
            next: ["agentos-server jobs list"]
          })
        return undefined
      }
    )
    context.output.record({ name, done }, [
      ["Job", name],
      ["Items processed", done]
    ])
  }
)
