import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What the completion job works on. `due_at` is there while an operation is not
 * final, and never after: that alone decides what is in the job's queue, so the
 * database refuses an open operation that nobody would ever take up again.
 *
 * `operations_due` knows nothing of what is final. Every move of an operation takes
 * it to another place there, and what it leaves behind has to be stepped over until
 * it is cleared away; so that is done once it is a few thousand, however
 * large the table has become. `operations_paid` is what a comparison with the chain goes through.
 *
 * `operations_totals` holds all that operations are summed by, as the rows themselves are some fifty
 * times as large. It is led by a column that no statement asks for, and the rest is not to be searched by:
 * led by the state, it would look like a shorter way to one operation to a planner that believes
 * there are few in that state.
 *
 * Accounts of the ledger name a token in lower case, as the operations' own columns do.
 */
export const createCompletion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table operations add column refund_nonce text, add column due_at bigint`
  yield* sql`
    update operations set due_at = coalesce(leased_until, epoch_millis())
    where state not in ('fulfilled', 'unpaid', 'refunded')`
  yield* sql`update operations set leased_until = null where due_at is null and leased_until is not null`
  yield* sql`
    alter table operations add constraint operations_due_unless_final
    check ((due_at is null) = (state in ('fulfilled', 'unpaid', 'refunded')))`
  yield* sql`
    alter table operations set (
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 2000
    )`
  yield* sql`create index operations_due on operations (due_at, operation_id) where due_at is not null`
  yield* sql`create index operations_paid on operations (operation_id) where transaction is not null`
  yield* sql`create index operations_totals on operations (created_at) include (state, network, asset, amount)`
  yield* sql`update ledger_entries set asset = lower(asset) where asset <> lower(asset)`
})
