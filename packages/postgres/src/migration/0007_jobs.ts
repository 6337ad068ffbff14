import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** One row per job, inserted when the job is first leased. The fence counts its runs. */
export const createJobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table jobs (
      name text constraint jobs_key primary key,
      due_at bigint not null,
      leased_until bigint,
      fence integer not null,
      started_at bigint,
      succeeded_at bigint,
      failed_at bigint,
      failure text,
      failures bigint not null default 0,
      done bigint not null default 0
    ) with (fillfactor = 50)`
})
