create function epoch_millis() returns bigint language sql volatile
    return floor(extract(epoch from clock_timestamp()) * 1000)::bigint;

create function database_has_room() returns boolean
    language sql volatile set work_mem = '64kB' set temp_tablespaces = '' as $$
      with pages as materialized (select repeat('x', 8000) from generate_series(1, 128))
      select count(*) = 128 from pages
    $$;

create table jobs (
      name text constraint jobs_key primary key,
      due_at bigint not null,
      leased_until bigint,
      fence integer not null,
      started_at bigint,
      succeeded_at bigint,
      failed_at bigint,
      failure text,
      failures bigint not null default 0,
      done bigint not null default 0
    ) with (fillfactor = 50);

create unlogged table rate_limits (
      rule text,
      subject text,
      burst double precision not null,
      per_second double precision not null,
      missing double precision not null,
      updated_at bigint not null,
      full_at bigint not null,
      constraint rate_limits_key primary key (rule, subject)
    ) with (fillfactor = 50);

create index rate_limits_full_at on rate_limits (full_at);

create unlogged table server_messages (
      message_id bigint generated always as identity constraint server_messages_key primary key,
      server_id uuid not null,
      body text not null,
      expires_at bigint not null
    );

create index server_messages_of_server on server_messages (server_id, message_id);

create index server_messages_expiring on server_messages (expires_at);

create unlogged table agent_sessions (
      session_id uuid constraint agent_sessions_key primary key,
      tenant_id uuid not null,
      server_id uuid not null,
      expires_at bigint not null,
      phone_number_ids text
    );

create index agent_sessions_of_tenant on agent_sessions (tenant_id);

create table tenants (
      tenant_id uuid constraint tenants_key primary key,
      wallet text not null constraint tenants_wallet_key unique,
      token_version integer not null,
      created_at bigint not null,
      last_event_at bigint,
      last_event_id uuid,
      suspended_at bigint,
      suspension_reason text,
      token_trust text not null default 'unproven',
      constraint tenants_wallet_folded check (wallet = lower(wallet))
    ) with (fillfactor = 70);

create table sign_ins (
      tenant_id uuid constraint sign_ins_tenant references tenants,
      nonce text,
      expires_at bigint not null,
      constraint sign_ins_key primary key (tenant_id, nonce)
    );

create index sign_ins_expiring on sign_ins (expires_at);

create table events (
      event_id uuid constraint events_key primary key,
      tenant_id uuid not null,
      type text not null,
      source text not null,
      service text not null,
      resource_id text not null,
      agent_id text not null,
      payload text not null,
      dedupe_key text not null,
      status text not null default 'pending',
      created_at bigint not null,
      expires_at bigint not null,
      open_tenant_id uuid generated always as (
        case when status in ('pending', 'delivered') then tenant_id end
      ) stored,
      failed_tenant_id uuid generated always as (case status when 'failed' then tenant_id end) stored,
      delivered_at bigint,
      acknowledged_at bigint,
      delivery_count integer not null default 0,
      lapses integer not null default 0,
      session_id text,
      delivery_id uuid,
      leased_until bigint,
      constraint events_dedupe_key unique (dedupe_key, tenant_id),
      constraint events_status check (status in ('pending', 'delivered', 'acknowledged', 'expired', 'failed'))
    ) with (
      fillfactor = 85,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 2000
    );

create index events_order on events (tenant_id, created_at, event_id);

create index events_open on events (open_tenant_id, created_at, event_id) where open_tenant_id is not null;

create index events_failed on events (failed_tenant_id, created_at, event_id) where failed_tenant_id is not null;

create index events_session on events (session_id) where session_id is not null;

create index events_expiring on events (expires_at) where open_tenant_id = tenant_id;

create table deleted_agents (
      tenant_id uuid,
      agent_id text,
      constraint deleted_agents_key primary key (tenant_id, agent_id)
    );

create table event_webhooks (
      tenant_id uuid constraint event_webhooks_key primary key constraint event_webhooks_tenant references tenants,
      webhook_id uuid not null constraint event_webhooks_webhook_key unique,
      url text not null,
      types text,
      state text not null,
      secret_key_id integer not null,
      secret_version integer not null,
      previous_key_id integer,
      previous_version integer,
      previous_valid_until bigint,
      created_at bigint not null,
      updated_at bigint not null,
      paused_at bigint,
      retries text not null default '[]',
      failures integer not null default 0,
      fence integer not null default 1,
      leased_until bigint,
      due_at bigint,
      resting boolean not null default false,
      seen_event_id uuid,
      has_answered boolean not null default false,
      constraint event_webhooks_state check (state in ('active', 'paused'))
    ) with (fillfactor = 70);

create index event_webhooks_due on event_webhooks (due_at) where due_at is not null;

create table event_webhook_attempts (
      webhook_id uuid constraint event_webhook_attempts_webhook
        references event_webhooks (webhook_id) on delete cascade,
      delivery_id uuid,
      event_id uuid not null,
      type text not null,
      attempt integer not null,
      created_at bigint not null,
      duration_millis integer not null,
      outcome text not null,
      response_status integer,
      error text,
      next_attempt_at bigint,
      constraint event_webhook_attempts_key primary key (webhook_id, delivery_id)
    );

create table operations (
      operation_id uuid constraint operations_key primary key,
      tenant_id uuid not null constraint operations_tenant references tenants,
      service_id text not null,
      endpoint text not null,
      idempotency_key text not null,
      fingerprint text not null,
      request_id text not null,
      network text not null,
      asset text not null,
      payer text not null,
      nonce text not null,
      amount numeric(78, 0) not null,
      proof text not null,
      terms text not null,
      input text not null,
      plan text not null,
      state text not null,
      nonce_read_at_block numeric(78, 0),
      transaction text,
      refund_transaction text,
      failure text,
      answer_created boolean,
      answer_body text,
      answer_slots text,
      fence integer not null,
      leased_until bigint,
      created_at bigint not null,
      updated_at bigint not null,
      refund_nonce text,
      due_at bigint,
      receipt text,
      constraint operations_proof_key unique (network, asset, payer, nonce),
      constraint operations_idempotency_key unique (payer, endpoint, idempotency_key),
      constraint operations_folded check (asset = lower(asset) and payer = lower(payer) and nonce = lower(nonce)),
      constraint operations_due_unless_final
        check ((due_at is null) = (state in ('fulfilled', 'unpaid', 'refunded')))
    ) with (
      fillfactor = 80,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 2000
    );

create index operations_due on operations (due_at, operation_id) where due_at is not null;

create index operations_paid on operations (operation_id) where transaction is not null;

create index operations_totals on operations (created_at) include (state, network, asset, amount);

create table ledger_entries (
      ledger_entry_id bigint generated always as identity constraint ledger_entries_key primary key,
      operation_id uuid not null constraint ledger_entries_operation references operations,
      account text not null,
      network text not null,
      asset text not null,
      amount numeric(78, 0) not null,
      created_at bigint not null
    );

create index ledger_entries_operation_order on ledger_entries (operation_id);

create table gas_wallets (
      network text,
      address text,
      next_account_nonce bigint not null,
      constraint gas_wallets_key primary key (network, address),
      constraint gas_wallets_folded check (address = lower(address))
    ) with (fillfactor = 50);

create table gas_transactions (
      network text,
      address text,
      account_nonce bigint,
      reference text not null,
      hashes text[] not null,
      bytes text[] not null,
      created_at bigint not null,
      signed_at bigint not null,
      constraint gas_transactions_key primary key (network, address, account_nonce),
      constraint gas_transactions_reference_key unique (network, address, reference),
      constraint gas_transactions_wallet foreign key (network, address) references gas_wallets,
      constraint gas_transactions_versions check (cardinality(hashes) = cardinality(bytes) and cardinality(hashes) > 0)
    );

create table local_parts (
      local_part text constraint local_parts_key primary key,
      tenant_id uuid not null constraint local_parts_tenant references tenants,
      owned boolean not null,
      operation_id uuid,
      mailbox_id uuid
    );

create index local_parts_operation on local_parts (operation_id) where operation_id is not null;

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
    );

create index mailboxes_order on mailboxes (tenant_id, created_at, mailbox_id);

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
    );

create index messages_order on messages (tenant_id, created_at, message_id);

create index messages_mailbox_order on messages (mailbox_id, created_at, message_id);

create index messages_thread on messages (message_id_digest, mailbox_id, created_at, message_id)
    where message_id_digest is not null;

create index messages_inbound on messages (inbound_mail_id) where inbound_mail_id is not null;

create index messages_search on messages using gin (search);

create index messages_unsearchable on messages (message_id) where search is null;

create table suppressions (
      tenant_id uuid constraint suppressions_tenant references tenants,
      address text,
      reason text not null,
      created_at bigint not null,
      constraint suppressions_key primary key (tenant_id, address)
    );

create index suppressions_listed on suppressions (tenant_id, address collate "C");

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
    ) with (fillfactor = 70);

create table mail_feedback (
      tenant_id uuid constraint mail_feedback_tenant references tenants,
      reason text,
      reporter text,
      message_id uuid not null,
      created_at bigint not null,
      constraint mail_feedback_key primary key (tenant_id, reason, reporter)
    );

create table mail_reports (
      report_id uuid,
      message_id uuid,
      received_at bigint not null,
      remote_address text not null,
      report text not null,
      constraint mail_reports_key primary key (message_id, report_id)
    );

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
    );

alter table inbound_mails alter column raw set storage external;

create index inbound_mails_waiting on inbound_mails (received_at, inbound_mail_id) where not completed;

create index inbound_mails_completed on inbound_mails (received_at, inbound_mail_id) where completed;

create table inbound_mail_pieces (
      inbound_mail_id uuid constraint inbound_mail_pieces_mail references inbound_mails on delete cascade,
      position integer,
      bytes bytea not null,
      constraint inbound_mail_pieces_key primary key (inbound_mail_id, position)
    );

alter table inbound_mail_pieces alter column bytes set storage external;

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
    );

create index sent_attachments_message on sent_attachments (message_id) where message_id is not null;

create index sent_attachments_operation on sent_attachments (operation_id) where message_id is null;

create index sent_attachments_staged on sent_attachments (staged_at, attachment_id) where message_id is null;

create table sent_attachment_pieces (
      attachment_id uuid constraint sent_attachment_pieces_attachment references sent_attachments on delete cascade,
      position integer,
      bytes bytea not null,
      constraint sent_attachment_pieces_key primary key (attachment_id, position)
    );

alter table sent_attachment_pieces alter column bytes set storage external;

create table message_retries (
      message_id uuid constraint message_retries_key primary key,
      tenant_id uuid not null constraint message_retries_tenant references tenants,
      attempts integer not null,
      due_at bigint not null
    );

create index message_retries_due on message_retries (due_at, message_id);

create table held_numbers (
      number text constraint held_numbers_key primary key,
      operation_id uuid constraint held_numbers_operation_key unique
    );

create table phone_numbers (
      phone_number_id uuid constraint phone_numbers_key primary key,
      tenant_id uuid not null constraint phone_numbers_tenant references tenants,
      agent_id uuid not null,
      number text not null,
      country text not null,
      provider_number_id text not null,
      agent_name text not null,
      agent_webhook_url text not null,
      description text,
      begin_message text,
      voice text,
      language text,
      state text not null,
      suspension text,
      started_at bigint not null,
      expires_at bigint not null,
      notice_days integer,
      notice_at bigint,
      purchased_seconds integer not null,
      used_seconds integer not null,
      callback_key_id integer not null,
      callback_version integer not null,
      created_at bigint not null,
      released_at bigint,
      unreleased_number text generated always as (case when state <> 'released' then number end) stored,
      unreleased_id uuid generated always as (case when state <> 'released' then phone_number_id end) stored,
      suspended_id uuid generated always as (case state when 'suspended' then phone_number_id end) stored,
      notice_due_at bigint generated always as (case state when 'active' then notice_at end) stored,
      expiry_due_at bigint generated always as (case state when 'active' then expires_at end) stored,
      constraint phone_numbers_state check (state in ('active', 'suspended', 'released')),
      constraint phone_numbers_notice check ((notice_days is null) = (notice_at is null))
    ) with (
      fillfactor = 85,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 2000
    );

create index phone_numbers_order on phone_numbers (tenant_id, created_at, phone_number_id);

create unique index phone_numbers_unreleased_number on phone_numbers (unreleased_number)
    where unreleased_number is not null;

create index phone_numbers_unreleased on phone_numbers (unreleased_id) where unreleased_id is not null;

create index phone_numbers_suspended on phone_numbers (suspended_id) where suspended_id is not null;

create index phone_numbers_notice_due on phone_numbers (notice_due_at, phone_number_id)
    where notice_due_at is not null;

create index phone_numbers_expiry_due on phone_numbers (expiry_due_at, phone_number_id)
    where expiry_due_at is not null;

create table calls (
      call_id uuid constraint calls_key primary key,
      tenant_id uuid not null constraint calls_tenant references tenants,
      phone_number_id uuid not null constraint calls_number references phone_numbers,
      agent_id uuid not null,
      direction text not null,
      from_number text not null,
      to_number text not null,
      state text not null,
      provider_call_id text constraint calls_provider_key unique,
      greeting text,
      authorized_seconds integer not null,
      hang_up_reason text,
      end_reason text,
      connected_seconds integer not null,
      watch_at bigint,
      created_at bigint not null,
      answered_at bigint,
      ended_at bigint,
      relay_token_hash text,
      turn_count integer not null default 0,
      live_number_id uuid generated always as (case when state <> 'ended' then phone_number_id end) stored,
      extended_seconds integer not null default 0,
      redeemed_relay_hash text,
      constraint calls_state check (state in ('queued', 'ringing', 'in_progress', 'ended')),
      constraint calls_watched_until_ended check ((watch_at is null) = (state = 'ended'))
    ) with (
      fillfactor = 85,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 2000
    );

create index calls_watched on calls (watch_at, call_id) where watch_at is not null;

create index calls_live on calls (live_number_id, created_at, call_id) where live_number_id is not null;

create unique index calls_relay on calls (relay_token_hash) where relay_token_hash is not null;

create index calls_outbound on calls (tenant_id, created_at, call_id) where direction = 'outbound';

create index calls_listed on calls (tenant_id, created_at, call_id) where connected_seconds >= 0;

create index calls_of_number on calls (phone_number_id, created_at, call_id) where authorized_seconds >= 0;

create table call_grants (
      operation_id uuid constraint call_grants_key primary key,
      call_id uuid not null constraint call_grants_call references calls,
      seconds integer not null
    );

create table call_turns (
      call_id uuid constraint call_turns_call references calls,
      turn_index integer,
      role text not null,
      text text not null,
      created_at bigint not null,
      constraint call_turns_key primary key (call_id, turn_index)
    );

create table declined_calls (
      phone_number_id uuid,
      caller text,
      tenant_id uuid not null,
      declined_count integer not null,
      provider_call_id text not null,
      declined_at bigint not null,
      due_at bigint not null,
      constraint declined_calls_key primary key (phone_number_id, caller)
    ) with (fillfactor = 50, autovacuum_vacuum_threshold = 2000);

create index declined_calls_due on declined_calls (due_at);

