import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `gas_wallets` counts the account nonces of each wallet; the lock of its row hands them out one after the
 * other. `gas_transactions` holds the transactions that the chain has not yet included, and so stays small. The
 * versions of one are two parallel arrays, hashes and bytes, oldest first.
 */
export const createGas = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table gas_wallets (
      network text,
      address text,
      next_account_nonce bigint not null,
      constraint gas_wallets_key primary key (network, address),
      constraint gas_wallets_folded check (address = lower(address))
    ) with (fillfactor = 50)`
  yield* sql`
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
    )`
})
