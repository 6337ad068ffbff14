import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Threads, labels and unread flags of messages, and the metadata of mailboxes. */
export const createThreads = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The labels of messages, `unread` among them, beside the messages: a change of a message would enter all of its words
  // into the index `messages_search` again.
  yield* sql`
    create table message_labels (
      message_id uuid,
      label text,
      tenant_id uuid not null,
      mailbox_id uuid not null,
      created_at bigint not null,
      constraint message_labels_key primary key (message_id, label)
    )`
  yield* sql`create index message_labels_order on message_labels (tenant_id, label, created_at, message_id)`
  yield* sql`create index message_labels_mailbox_order on message_labels (mailbox_id, label, created_at, message_id)`

  // A thread counts its messages, so that a list of threads does not. `labeled` tells whether `thread_labels` may have
  // rows of it. Without foreign keys, because older servers delete mailboxes without them; lists leave such threads out.
  yield* sql`
    create table threads (
      thread_id uuid,
      mailbox_id uuid,
      tenant_id uuid not null,
      subject text not null,
      snippet text not null,
      participants text[] not null,
      message_count integer not null,
      unread_count integer not null,
      has_attachments boolean not null,
      labeled boolean not null default false,
      first_at bigint not null,
      last_at bigint not null,
      last_message_id uuid not null,
      constraint threads_key primary key (thread_id, mailbox_id)
    )`
  yield* sql`create index threads_order on threads (tenant_id, last_at, last_message_id)`
  yield* sql`create index threads_mailbox_order on threads (mailbox_id, last_at, last_message_id)`
  yield* sql`create index threads_unread on threads (tenant_id, last_at, last_message_id) where unread_count > 0`
  yield* sql`create index threads_mailbox_unread on threads (mailbox_id, last_at, last_message_id) where unread_count > 0`

  // The labels of the messages of each thread, with the thread's last activity, so that a list by label is read in order.
  yield* sql`
    create table thread_labels (
      thread_id uuid,
      mailbox_id uuid,
      label text,
      tenant_id uuid not null,
      message_count integer not null,
      last_at bigint not null,
      last_message_id uuid not null,
      constraint thread_labels_key primary key (thread_id, mailbox_id, label)
    )`
  yield* sql`create index thread_labels_order on thread_labels (tenant_id, label, last_at, last_message_id)`
  yield* sql`create index thread_labels_mailbox_order on thread_labels (mailbox_id, label, last_at, last_message_id)`

  // Null for messages of older servers, until the job `message-threads` adds them to their threads.
  yield* sql`alter table messages add column threaded boolean`

  // JSON as text; null for a mailbox without metadata.
  yield* sql`alter table mailboxes add column metadata text`
})
