create table claimed_transfers (
      transfer_id text,
      operation_id uuid not null constraint claimed_transfers_operation references operations,
      constraint claimed_transfers_key primary key (transfer_id)
    );

