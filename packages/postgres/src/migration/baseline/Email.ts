import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Mailboxes, their messages, and the limits of sending. */
export const createEmail = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The state of a local part: `owned` is permanent once a mailbox has used it, `operation_id` is set while an operation
  // reserves it, `mailbox_id` while a mailbox has it. The whole state is in one row, so that one lock settles a race.
  yield* sql`
    create table local_parts (
      local_part text constraint local_parts_key primary key,
      tenant_id uuid not null constraint local_parts_tenant references tenants,
      owned boolean not null,
      operation_id uuid,
      mailbox_id uuid
    )`
  yield* sql`create index local_parts_operation on local_parts (operation_id) where operation_id is not null`

  // A mailbox counts its messages and their sizes, so that checking its quota does not count rows; a tenant's usage is the
  // sum of its mailboxes. `sender_policy` is JSON as text; null for a mailbox that receives mail from anyone.
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
      updated_at bigint not null,
      message_count bigint not null default 0,
      stored_bytes bigint not null default 0,
      sender_policy text
    )`
  yield* sql`create index mailboxes_order on mailboxes (tenant_id, created_at, mailbox_id)`

  // Values whose length strangers choose (Message-IDs, duplicate keys) are indexed by their SHA-256, since an index accepts
  // no key larger than a third of a page. Parts of a message that are only read back are JSON as text, so that they are
  // returned exactly as stored. `search` has the terms by which a message is found; null until the job `message-search`
  // fills it in. `tenant_id` and `mailbox_id` each lead only one index, so that a list is read from the index in its order.
  // A message refers to its raw mail without a foreign key; the mail is deleted when no message refers to it.
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
      size_bytes bigint not null default 0,
      search tsvector,
      constraint messages_duplicate_key unique (duplicate_key, mailbox_id)
    )`
  yield* sql`create index messages_order on messages (tenant_id, created_at, message_id)`
  yield* sql`create index messages_mailbox_order on messages (mailbox_id, created_at, message_id)`
  yield* sql`
    create index messages_thread on messages (message_id_digest, mailbox_id, created_at, message_id)
    where message_id_digest is not null`
  yield* sql`create index messages_inbound on messages (inbound_mail_id) where inbound_mail_id is not null`
  // Serves filters other than the mailbox and the time.
  yield* sql`create index messages_search on messages using gin (search)`
  // Serves the job that makes messages searchable: it contains only those that are not.
  yield* sql`create index messages_unsearchable on messages (message_id) where search is null`

  yield* sql`
    create table suppressions (
      tenant_id uuid constraint suppressions_tenant references tenants,
      address text,
      reason text not null,
      created_at bigint not null,
      constraint suppressions_key primary key (tenant_id, address)
    )`
  // Serves the list of a tenant's suppressions, which is by code points whatever the collation of the database is.
  yield* sql`create index suppressions_listed on suppressions (tenant_id, address collate "C")`

  // The limits of a tenant's sending. `bounced` and `complained` are not used: `mail_feedback` counts both.
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
      recipients_before integer not null default 0,
      constraint mail_sending_pause check ((paused_until is null) = (pause_reason is null))
    ) with (fillfactor = 70)`

  // The bounces and complaints that count towards a pause, each reporter once: a recipient, or a domain with a leading `@`.
  yield* sql`
    create table mail_feedback (
      tenant_id uuid constraint mail_feedback_tenant references tenants,
      reason text,
      reporter text,
      message_id uuid not null,
      created_at bigint not null,
      constraint mail_feedback_key primary key (tenant_id, reason, reporter)
    )`

  // Delivery status notifications and feedback reports, for audit. A report refers to its message without a foreign key: it
  // stays when the message is deleted. One mail may report on several messages.
  yield* sql`
    create table mail_reports (
      report_id uuid,
      message_id uuid,
      received_at bigint not null,
      remote_address text not null,
      report text not null,
      constraint mail_reports_key primary key (message_id, report_id)
    )`
})
