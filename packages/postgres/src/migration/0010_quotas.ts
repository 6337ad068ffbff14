import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Adds usage limits and the suspension of tenants. Both columns of a suspension are set, or neither.
 *
 * A mailbox counts its messages and their sizes, so that checking its quota does not count rows; a tenant's
 * usage is the sum of its mailboxes. Mail that waits for delivery is counted in the mailboxes that it names.
 * Messages from before this migration have size 0, both here and when they are deleted.
 */
export const createQuotas = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table tenants add column suspended_at bigint, add column suspension_reason text`
  yield* sql`
    alter table mailboxes
      add column message_count bigint not null default 0,
      add column stored_bytes bigint not null default 0`
  yield* sql`alter table messages add column size_bytes bigint not null default 0`
  yield* sql`
    create table mail_sending (
      tenant_id uuid constraint mail_sending_key primary key constraint mail_sending_tenant references tenants,
      day integer not null,
      recipients integer not null,
      bounced integer not null,
      complained integer not null,
      level integer not null,
      paused_until bigint,
      pause_reason text,
      constraint mail_sending_pause check ((paused_until is null) = (pause_reason is null))
    ) with (fillfactor = 70)`
  yield* sql`alter table inbound_mails add column counted_mailbox_ids uuid[] not null default '{}'`
})
