import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Moments are bigints of epoch milliseconds everywhere, exactly as in the core: a finer unit would order rows
 * by digits that no client can see.
 *
 * `tenants` also stores the moment and id of the tenant's last event, so that a transaction that holds the
 * row's lock knows the next createdAt and eventId without another read.
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
