import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Stores how many tokens are missing from each shared bucket of the rate limiters as of `updated_at`, and when
 * the bucket is full again at the latest. Unlogged: after a crash of the database every bucket may be full
 * again, and no other table is affected.
 */
export const createRateLimits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create unlogged table rate_limits (
      rule text,
      subject text,
      burst double precision not null,
      per_second double precision not null,
      missing double precision not null,
      updated_at bigint not null,
      full_at bigint not null,
      constraint rate_limits_key primary key (rule, subject)
    ) with (fillfactor = 50)`
  yield* sql`create index rate_limits_full_at on rate_limits (full_at)`
})
