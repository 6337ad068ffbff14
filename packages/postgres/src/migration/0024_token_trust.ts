import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The tokens of existing tenants, and those that an older server issues meanwhile, may have been returned for a payment
 * alone: they are unproven.
 */
export const addTokenTrust = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table tenants add column token_trust text not null default 'unproven'`
})
