import { type JobRecord, JobStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"

interface JobRow {
  readonly name: string
  readonly due_at: bigint
  readonly leased_until: bigint | null
  readonly fence: number
  readonly started_at: bigint | null
  readonly succeeded_at: bigint | null
  readonly failed_at: bigint | null
  readonly failure: string | null
  readonly failures: bigint
  readonly done: bigint
}

const toRecord = (row: JobRow): JobRecord => ({
  name: row.name,
  dueAt: Row.toMoment(row.due_at),
  leasedUntil: Row.toMomentOrNull(row.leased_until),
  startedAt: Row.toMomentOrNull(row.started_at),
  succeededAt: Row.toMomentOrNull(row.succeeded_at),
  failedAt: Row.toMomentOrNull(row.failed_at),
  failure: row.failure,
  runs: row.fence,
  failures: Number(row.failures),
  done: Number(row.done)
})

export const layer: Layer.Layer<JobStore, never, Database> = Layer.effect(
  JobStore,
  Effect.gen(function* () {
    const { sql } = yield* Database
    const { clock } = yield* storeClock

    return JobStore.of({
      take: (name, when, leaseMillis) =>
        Effect.map(
          orDie(sql<{ readonly fence: number }>`
            with ${clock()}
            insert into jobs (name, due_at, leased_until, fence, started_at)
            select ${Parameter.text(name)}, now, now + ${Parameter.integer(leaseMillis)}, 1, now from clock
            on conflict (name) do update set
              leased_until = excluded.leased_until, fence = jobs.fence + 1, started_at = excluded.started_at
            where (jobs.leased_until is null or jobs.leased_until <= excluded.started_at)
              and (${Parameter.boolean(when === "now")} or jobs.due_at <= excluded.started_at)
            returning fence`),
          Row.first(({ fence }) => ({ name, fence }))
        ),
      renew: ({ fence, name }, leaseMillis) =>
        Effect.map(
          orDie(sql`
            with ${clock()}
            update jobs set leased_until = now + ${Parameter.integer(leaseMillis)} from clock
            where name = ${Parameter.text(name)} and fence = ${Parameter.integer(fence)} and leased_until is not null
            returning name`),
          Row.any
        ),
      finish: ({ fence, name }, outcome, nextMillis) => {
        const ended =
          outcome._tag === "Succeeded"
            ? sql`succeeded_at = now, failure = null, done = done + ${Parameter.integer(outcome.done)}`
            : sql`failed_at = now, failure = ${Parameter.text(outcome.message)}, failures = failures + 1`
        return Effect.map(
          orDie(sql`
            with ${clock()}
            update jobs set leased_until = null, due_at = now + ${Parameter.integer(nextMillis)}, ${ended} from clock
            where name = ${Parameter.text(name)} and fence = ${Parameter.integer(fence)} and leased_until is not null
            returning name`),
          Row.any
        )
      },
      list: Effect.map(
        orDie(sql<JobRow>`
          select name, due_at, leased_until, fence, started_at, succeeded_at, failed_at, failure, failures, done
          from jobs order by name`),
        Row.all(toRecord)
      )
    })
  })
)
