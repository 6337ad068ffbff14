import {
  type GasTransaction,
  GasTransactionStore,
  type GasWallet,
  type SignedTransaction
} from "@agentos/x402/GasTransactionStore"
import { Array, Effect, Layer } from "effect"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const WALLET = { network: Table.text("network"), address: Table.text("address") }

const TRANSACTIONS = Table.table("gas_transactions", {
  wallet: Table.group(WALLET),
  accountNonce: Table.long("account_nonce"),
  reference: Table.text("reference"),
  versions: Table.map(
    Table.group({ hashes: Table.textArray("hashes"), bytes: Table.textArray("bytes") }),
    ({ bytes, hashes }) => Array.zipWith(hashes, bytes, (hash, version) => ({ hash, bytes: version })),
    (versions) => ({ hashes: versions.map(({ hash }) => hash), bytes: versions.map(({ bytes }) => bytes) })
  ),
  createdAt: Table.moment("created_at"),
  signedAt: Table.moment("signed_at")
})

type GasTransactionRow = Table.Stored<typeof TRANSACTIONS>

const toGasTransaction: (row: GasTransactionRow) => GasTransaction = TRANSACTIONS.toRecord

export const layer: Layer.Layer<GasTransactionStore, never, Database> = Layer.effect(
  GasTransactionStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const { clock, now } = yield* storeClock
    const columns = sql.literal(TRANSACTIONS.columns)
    const moment = sql.literal("now")
    const isOf = ({ address, network }: GasWallet) =>
      sql`network = ${Parameter.text(network)} and address = ${Parameter.text(address)}`

    /** Locks the wallet until the transaction ends, and returns the next account nonce. */
    const lock = Effect.fnUntraced(function* (wallet: GasWallet) {
      const locked = sql<{ readonly next_account_nonce: bigint }>`
        select next_account_nonce from gas_wallets where ${isOf(wallet)} for no key update`
      const [known] = yield* locked
      if (known !== undefined) return Number(known.next_account_nonce)
      yield* sql`
        insert into gas_wallets (network, address, next_account_nonce)
        values (${Parameter.text(wallet.network)}, ${Parameter.text(wallet.address)}, 0) on conflict do nothing`
      // If another transaction inserted the wallet first, a new statement reads the row that it committed.
      const [made] = yield* locked
      return made === undefined
        ? yield* Effect.die(new Error("the gas wallet was deleted meanwhile"))
        : Number(made.next_account_nonce)
    })

    /** All writes come last, so that a failure of `sign` leaves nothing to undo. */
    const store = Effect.fnUntraced(function* (
      { accountNonce, reference, wallet }: Pick<GasTransaction, "accountNonce" | "reference" | "wallet">,
      { bytes, hash }: SignedTransaction
    ) {
      yield* sql`
        update gas_wallets set next_account_nonce = ${Parameter.integer(accountNonce + 1)} where ${isOf(wallet)}`
      const transaction = { wallet, accountNonce, reference, versions: [{ hash, bytes }] }
      const values = Table.changesOf(TRANSACTIONS.fields, transaction)
      const [stored] = yield* sql<GasTransactionRow>`
        with ${clock()}
        insert into gas_transactions ${Table.insertSelect(sql, { ...values, created_at: moment, signed_at: moment })}
        from clock
        returning ${columns}`
      return stored === undefined
        ? yield* Effect.die(new Error("a gas transaction was not stored"))
        : toGasTransaction(stored)
    })

    const open: GasTransactionStore["Service"]["open"] = ({ accountNonceMin, reference, wallet }, sign) =>
      Effect.gen(function* () {
        const next = yield* orDie(lock(wallet))
        const [known] = yield* orDie(sql<GasTransactionRow>`
          select ${columns} from gas_transactions where ${isOf(wallet)} and reference = ${Parameter.text(reference)}`)
        if (known !== undefined) return toGasTransaction(known)
        const accountNonce = Math.max(next, accountNonceMin)
        const signed = yield* sign(accountNonce)
        return yield* orDie(store({ accountNonce, reference, wallet }, signed))
      })

    return GasTransactionStore.of({
      open: (transaction, sign) => transact(open(transaction, sign)),
      reprice: ({ accountNonce, wallet }, previousHash, version) =>
        Row.any(sql`
          update gas_transactions set
            hashes = array_append(hashes, ${Parameter.text(version.hash)}),
            bytes = array_append(bytes, ${Parameter.text(version.bytes)}),
            signed_at = ${now()}
          where ${isOf(wallet)} and account_nonce = ${Parameter.integer(accountNonce)}
            and hashes[cardinality(hashes)] = ${Parameter.text(previousHash)}
          returning account_nonce`),
      listOpen: (wallet, limit) =>
        Row.all(toGasTransaction)(sql<GasTransactionRow>`
          select ${columns} from gas_transactions where ${isOf(wallet)}
          order by account_nonce limit ${Parameter.integer(limit)}`),
      closeBelow: (wallet, accountNonce) =>
        Row.run(sql`
          delete from gas_transactions
          where ${isOf(wallet)} and account_nonce < ${Parameter.integer(accountNonce)}`)
    })
  })
)
