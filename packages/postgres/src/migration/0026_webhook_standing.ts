import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whether the endpoint has ever answered 2xx: some slots of each server are reserved for those that do. */
export const addWebhookStanding = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table event_webhooks add column has_answered boolean not null default false`
})
