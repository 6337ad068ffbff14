import { Fresh } from "@agentos/core/contract-tests"
import { GasTransactionStore, type GasWallet, type SignedTransaction } from "@agentos/x402/GasTransactionStore"
import { Effect } from "effect"

/** A unique gas wallet. */
export const gasWallet: Effect.Effect<GasWallet> = Effect.map(Fresh.wallet, (address) => ({
  network: "eip155:196",
  address
}))

/** A signed transaction for an account nonce; `version` distinguishes several for the same nonce. */
export const signed = (accountNonce: number, version = "a"): SignedTransaction => ({
  hash: `0x${version}${accountNonce}`,
  bytes: `0x02${version}${accountNonce}`
})

/** Opens a transaction, signed with its assigned account nonce. */
export const opened = Effect.fnUntraced(function* (
  wallet: GasWallet,
  parts?: { readonly reference?: string; readonly accountNonceMin?: number }
) {
  const store = yield* GasTransactionStore
  const reference = parts?.reference ?? (yield* Fresh.word)
  return yield* store.open({ wallet, reference, accountNonceMin: parts?.accountNonceMin ?? 0 }, (accountNonce) =>
    Effect.succeed(signed(accountNonce))
  )
})

/** Returns the account nonces of a wallet's open transactions, in the order of the list. */
export const openNonces = Effect.fnUntraced(function* (wallet: GasWallet) {
  const store = yield* GasTransactionStore
  return (yield* store.listOpen(wallet, 1_000)).map(({ accountNonce }) => accountNonce)
})
