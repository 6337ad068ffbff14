import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Moments are bigints of epoch milliseconds everywhere: the very numbers of the
 * core, with nothing finer to order by that no client could see.
 *
 * `tenants` also keeps where the tenant's events stand, so that whoever holds
 * the row's lock knows the next createdAt and eventId without looking further.
 */
export const createTenants = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function epoch_millis() returns bigint language sql volatile
    return floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
  yield* sql`
    create table tenants (
      tenant_id uuid constraint tenants_key primary key,
      wallet text not null constraint tenants_wallet_key unique,
      token_version integer not null,
      created_at bigint not null,
      last_event_at bigint,
      last_event_id uuid,
      constraint tenants_wallet_folded check (wallet = lower(wallet))
    ) with (fillfactor = 70)`
})
