import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The value of PAYMENT-RESPONSE is stored with its signature, so that a repeated answer has the same bytes. */
export const addReceipts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table operations add column receipt text`
})
