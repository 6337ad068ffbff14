import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What tenants may use, and who may not use anything. Both columns of a suspension are set, or neither.
 *
 * A mailbox counts its messages and their sizes, so that nobody counts rows to know whether it is full; a tenant stores
 * what its mailboxes store. Mail that waits to be delivered is counted in the mailboxes that it names. Messages from
 * before count as none, here and where they are deleted.
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
