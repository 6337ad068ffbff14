import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `local_parts` stores the state of a local part: `owned` is permanent once a mailbox has used it,
 * `operation_id` is set while an operation reserves it, `mailbox_id` while a mailbox has it. The whole state is
 * in one row, so that one lock settles a race.
 *
 * Values whose length strangers choose (Message-IDs, duplicate keys) are indexed by their SHA-256, since an
 * index accepts no key larger than a third of a page. Parts of a message that are only read back are JSON as
 * text, so that they are returned exactly as stored.
 *
 * Raw mail is not compressed: compressing what is mostly base64 costs more than it saves. `tenant_id` and
 * `mailbox_id` each lead only one index of messages, so that a list is read from the index in its order. A
 * message refers to its raw mail without a foreign key; the mail is deleted when no message refers to it.
 */
export const createEmail = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table local_parts (
      local_part text constraint local_parts_key primary key,
      tenant_id uuid not null constraint local_parts_tenant references tenants,
      owned boolean not null,
      operation_id uuid,
      mailbox_id uuid
    )`
  yield* sql`create index local_parts_operation on local_parts (operation_id) where operation_id is not null`
  yield* sql`
    create table mailboxes (
      mailbox_id uuid constraint mailboxes_key primary key,
      tenant_id uuid not null constraint mailboxes_tenant references tenants,
      local_part text not null constraint mailboxes_local_part_key unique,
      address text not null,
      display_name text,
      outbound_signature text,
      active boolean not null,
      created_at bigint not null,
      updated_at bigint not null
    )`
  yield* sql`create index mailboxes_order on mailboxes (tenant_id, created_at, mailbox_id)`
  yield* sql`
    create table inbound_mails (
      inbound_mail_id uuid constraint inbound_mails_key primary key,
      envelope text not null,
      raw bytea not null,
      received_at bigint not null,
      attempts integer not null,
      leased_until bigint,
      completed boolean not null default false
    )`
  yield* sql`alter table inbound_mails alter column raw set storage external`
  yield* sql`create index inbound_mails_waiting on inbound_mails (received_at, inbound_mail_id) where not completed`
  yield* sql`
    create table messages (
      message_id uuid constraint messages_key primary key,
      tenant_id uuid not null constraint messages_tenant references tenants,
      mailbox_id uuid not null constraint messages_mailbox references mailboxes,
      thread_id uuid not null,
      message_id_digest bytea,
      duplicate_key bytea,
      inbound_mail_id uuid,
      created_at bigint not null,
      summary text not null,
      body text not null,
      constraint messages_duplicate_key unique (duplicate_key, mailbox_id)
    )`
  yield* sql`create index messages_order on messages (tenant_id, created_at, message_id)`
  yield* sql`create index messages_mailbox_order on messages (mailbox_id, created_at, message_id)`
  yield* sql`
    create index messages_thread on messages (message_id_digest, mailbox_id, created_at, message_id)
    where message_id_digest is not null`
  yield* sql`create index messages_inbound on messages (inbound_mail_id) where inbound_mail_id is not null`
  yield* sql`
    create table suppressions (
      tenant_id uuid constraint suppressions_tenant references tenants,
      address text,
      reason text not null,
      created_at bigint not null,
      constraint suppressions_key primary key (tenant_id, address)
    )`
})
