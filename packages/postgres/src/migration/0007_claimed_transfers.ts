import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The transfers that the chain does not tie to an authorization, each with the operation that it proves. */
export const createClaimedTransfers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table claimed_transfers (
      transfer_id text,
      operation_id uuid not null constraint claimed_transfers_operation references operations,
      constraint claimed_transfers_key primary key (transfer_id)
    )`
})
