create table message_labels (
      message_id uuid,
      label text,
      tenant_id uuid not null,
      mailbox_id uuid not null,
      created_at bigint not null,
      constraint message_labels_key primary key (message_id, label)
    );

create index message_labels_order on message_labels (tenant_id, label, created_at, message_id);

create index message_labels_mailbox_order on message_labels (mailbox_id, label, created_at, message_id);

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
    );

create index threads_order on threads (tenant_id, last_at, last_message_id);

create index threads_mailbox_order on threads (mailbox_id, last_at, last_message_id);

create index threads_unread on threads (tenant_id, last_at, last_message_id) where unread_count > 0;

create index threads_mailbox_unread on threads (mailbox_id, last_at, last_message_id) where unread_count > 0;

create table thread_labels (
      thread_id uuid,
      mailbox_id uuid,
      label text,
      tenant_id uuid not null,
      message_count integer not null,
      last_at bigint not null,
      last_message_id uuid not null,
      constraint thread_labels_key primary key (thread_id, mailbox_id, label)
    );

create index thread_labels_order on thread_labels (tenant_id, label, last_at, last_message_id);

create index thread_labels_mailbox_order on thread_labels (mailbox_id, label, last_at, last_message_id);

alter table messages add column threaded boolean;

alter table mailboxes add column metadata text;

