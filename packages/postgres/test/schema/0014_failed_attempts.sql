alter table operations
      add column failed_state text, add column failed_attempts integer,
      add column failed_at bigint, add column failed_reason text;

