import { type GasTransaction, GasTransactionStore, type GasWallet } from "@agentos/x402/GasTransactionStore"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { gasKeys } from "./Tables.ts"

/** Gas transactions in memory. No locks are needed, since transactions run one after the other. */
export const layer = Layer.effect(
  GasTransactionStore,
  Effect.map(MemoryDatabase, ({ run, tables: { gasTransactions, gasWallets }, transact }) => {
    const put = (transaction: GasTransaction): GasTransaction => {
      gasTransactions.set(gasKeys.transaction(transaction.wallet, transaction.accountNonce), transaction)
      return transaction
    }

    const open: GasTransactionStore["Service"]["open"] = ({ accountNonceMin, reference, wallet }, sign) =>
      Effect.gen(function* () {
        const { known, next } = yield* run(() => {
          requireLowerCase(wallet)
          const [known] = gasTransactions.where("reference", gasKeys.reference(wallet, reference))
          return { known, next: gasWallets.get(gasKeys.wallet(wallet)) ?? 0 }
        })
        if (known !== undefined) return known
        const accountNonce = Math.max(next, accountNonceMin)
        const signed = yield* sign(accountNonce)
        return yield* run((now) => {
          gasWallets.set(gasKeys.wallet(wallet), accountNonce + 1)
          return put({ wallet, accountNonce, reference, versions: [signed], createdAt: now, signedAt: now })
        })
      })

    return GasTransactionStore.of({
      open: (transaction, sign) => transact(open(transaction, sign)),
      reprice: ({ accountNonce, wallet }, previousHash, version) =>
        run((now) => {
          const transaction = gasTransactions.get(gasKeys.transaction(wallet, accountNonce))
          if (transaction === undefined || transaction.versions.at(-1)?.hash !== previousHash) return false
          put({ ...transaction, versions: [...transaction.versions, version], signedAt: now })
          return true
        }),
      listOpen: (wallet, limit) =>
        run(() =>
          gasTransactions
            .where("wallet", gasKeys.wallet(wallet))
            .toSorted((a, b) => a.accountNonce - b.accountNonce)
            .slice(0, limit)
        ),
      closeBelow: (wallet, accountNonce) =>
        run(() => {
          for (const transaction of gasTransactions.where("wallet", gasKeys.wallet(wallet))) {
            if (transaction.accountNonce >= accountNonce) continue
            gasTransactions.delete(gasKeys.transaction(wallet, transaction.accountNonce))
          }
        })
    })
  })
)

const requireLowerCase = ({ address }: GasWallet): void => {
  if (address !== address.toLowerCase()) throw new Error(`the gas wallet ${address} is not written in lower case`)
}
