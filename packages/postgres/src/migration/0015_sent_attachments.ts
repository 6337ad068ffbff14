import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Stores the attachments of outbound messages. An attachment has no tenant and no message while it is staged: between
 * its upload and the claim of its operation. It refers to its message without a foreign key, because the message is
 * stored only once it is sent.
 *
 * Like raw mail, the bytes are stored in pieces, each written and read by a statement of its own.
 *
 * A server of an older version that takes over such an operation would send the mail without its attachments: stop all
 * of them before this migration.
 */
export const createSentAttachments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
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
})
