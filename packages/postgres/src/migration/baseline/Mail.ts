import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Mail on its way in and out. Bytes are stored in pieces of 256 KiB, each written and read by a statement of its own: one
 * statement for a mail of 25 MiB occupies an embedded database for most of a second and takes several times its size in
 * memory. They are not compressed: compressing base64 costs more than it saves.
 */
export const createMail = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `raw` is the first piece, which is all of a small mail; the others have positions from 1. A staged mail has only the
  // pieces written so far. Without `size_bytes`, all bytes of a mail are in `raw`. Until it is delivered, a mail is counted in the mailboxes that it names.
  yield* sql`
    create table inbound_mails (
      inbound_mail_id uuid constraint inbound_mails_key primary key,
      envelope text not null,
      raw bytea not null,
      received_at bigint not null,
      attempts integer not null,
      leased_until bigint,
      completed boolean not null default false,
      counted_mailbox_ids uuid[] not null default '{}',
      size_bytes bigint,
      staged boolean not null default false
    )`
  yield* sql`alter table inbound_mails alter column raw set storage external`
  yield* sql`create index inbound_mails_waiting on inbound_mails (received_at, inbound_mail_id) where not completed`
  // Serves the job that deletes raw mail: it contains the delivered mails, oldest first.
  yield* sql`create index inbound_mails_completed on inbound_mails (received_at, inbound_mail_id) where completed`
  yield* sql`
    create table inbound_mail_pieces (
      inbound_mail_id uuid constraint inbound_mail_pieces_mail references inbound_mails on delete cascade,
      position integer,
      bytes bytea not null,
      constraint inbound_mail_pieces_key primary key (inbound_mail_id, position)
    )`
  yield* sql`alter table inbound_mail_pieces alter column bytes set storage external`

  // The attachments of outbound messages. An attachment has no tenant and no message while it is staged: between its upload
  // and the claim of its operation. It refers to its message without a foreign key, because the message is stored only once
  // it is sent.
  yield* sql`
    create table sent_attachments (
      attachment_id uuid constraint sent_attachments_key primary key,
      operation_id uuid not null,
      position integer not null,
      tenant_id uuid constraint sent_attachments_tenant references tenants,
      message_id uuid,
      filename text not null,
      content_type text not null,
      size_bytes bigint not null,
      sha256 text not null,
      staged_at bigint not null,
      constraint sent_attachments_assigned check ((tenant_id is null) = (message_id is null))
    )`
  yield* sql`create index sent_attachments_message on sent_attachments (message_id) where message_id is not null`
  yield* sql`create index sent_attachments_operation on sent_attachments (operation_id) where message_id is null`
  yield* sql`
    create index sent_attachments_staged on sent_attachments (staged_at, attachment_id) where message_id is null`
  yield* sql`
    create table sent_attachment_pieces (
      attachment_id uuid constraint sent_attachment_pieces_attachment references sent_attachments on delete cascade,
      position integer,
      bytes bytea not null,
      constraint sent_attachment_pieces_key primary key (attachment_id, position)
    )`
  yield* sql`alter table sent_attachment_pieces alter column bytes set storage external`

  // The outbound messages with recipients that the relay refused temporarily. `due_at` is the end of the lease while an
  // attempt runs. A retry refers to its message without a foreign key, so that the deletion of a large mailbox checks
  // nothing for each message: the retry of a deleted message ends at its next attempt.
  yield* sql`
    create table message_retries (
      message_id uuid constraint message_retries_key primary key,
      tenant_id uuid not null constraint message_retries_tenant references tenants,
      attempts integer not null,
      due_at bigint not null
    )`
  yield* sql`create index message_retries_due on message_retries (due_at, message_id)`
})
