alter table message_retries add column send_at bigint;

