import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Adds the queue of the completion job. `due_at` is set until an operation is final, and never after. It alone
 * decides what is in the job's queue, so the database refuses an open operation without it: no job would ever
 * take that operation.
 *
 * `operations_due` does not contain final operations. Every update of an operation moves its index entry, and
 * searches step over the dead entries until they are vacuumed. So the table is vacuumed after a few thousand
 * dead rows, however large it is. `operations_paid` is read by the comparison with the chain.
 *
 * `operations_totals` contains all columns that operations are summed by, since the rows themselves are about
 * fifty times as large. It is led by a column that no statement filters by, and its other columns are not
 * search keys. If the state led it, a planner that expects few operations in that state would choose it to find
 * a single operation.
 *
 * Ledger accounts name a token in lower case, as the columns of operations do.
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
