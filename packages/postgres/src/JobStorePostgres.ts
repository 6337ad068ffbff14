import { type JobRecord, JobStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const JOBS = Table.table("jobs", {
  name: Table.text("name"),
  dueAt: Table.moment("due_at"),
  leasedUntil: Table.momentOrNull("leased_until"),
  startedAt: Table.momentOrNull("started_at"),
  succeededAt: Table.momentOrNull("succeeded_at"),
  failedAt: Table.momentOrNull("failed_at"),
  failure: Table.textOrNull("failure"),
  runs: Table.integer("fence"),
  failures: Table.long("failures"),
  done: Table.long("done")
})

const toRecord: (row: Table.Stored<typeof JOBS>) => JobRecord = JOBS.toRecord

export const layer: Layer.Layer<JobStore, never, Database> = Layer.effect(
  JobStore,
  Effect.gen(function* () {
    const { sql } = yield* Database
    const { clock } = yield* storeClock

    return JobStore.of({
      take: (name, when, leaseMillis) =>
        Row.first(({ fence }: { readonly fence: number }) => ({ name, fence }))(sql`
          with ${clock()}
          insert into jobs (name, due_at, leased_until, fence, started_at)
          select ${Parameter.text(name)}, now, now + ${Parameter.integer(leaseMillis)}, 1, now from clock
          on conflict (name) do update set
            leased_until = excluded.leased_until, fence = jobs.fence + 1, started_at = excluded.started_at
          where (jobs.leased_until is null or jobs.leased_until <= excluded.started_at)
            and (${Parameter.boolean(when === "now")} or jobs.due_at <= excluded.started_at)
          returning fence`),
      renew: ({ fence, name }, leaseMillis) =>
        Row.any(sql`
          with ${clock()}
          update jobs set leased_until = now + ${Parameter.integer(leaseMillis)} from clock
          where name = ${Parameter.text(name)} and fence = ${Parameter.integer(fence)} and leased_until is not null
          returning name`),
      finish: ({ fence, name }, outcome, nextMillis) => {
        const ended =
          outcome._tag === "Succeeded"
            ? sql`succeeded_at = now, failure = null, done = done + ${Parameter.integer(outcome.done)}`
            : sql`failed_at = now, failure = ${Parameter.text(outcome.message)}, failures = failures + 1`
        return Row.any(sql`
          with ${clock()}
          update jobs set leased_until = null, due_at = now + ${Parameter.integer(nextMillis)}, ${ended} from clock
          where name = ${Parameter.text(name)} and fence = ${Parameter.integer(fence)} and leased_until is not null
          returning name`)
      },
      list: Row.all(toRecord)(
        sql<Table.Stored<typeof JOBS>>`select ${sql.literal(JOBS.columns)} from jobs order by name`
      )
    })
  })
)
