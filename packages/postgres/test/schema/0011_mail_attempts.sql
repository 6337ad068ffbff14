alter table inbound_mails
      add column failure text, add column failed_attempt integer, add column replayed_after integer;

alter table message_retries add column ended_attempt integer, add column outcome text;

