import { GasTransactionStore, type GasWallet, type SignedTransaction } from "@agentos/core"
import { Effect } from "effect"
import * as Fresh from "../Fresh.ts"

/** A gas wallet that no other test has. */
export const gasWallet: Effect.Effect<GasWallet> = Effect.map(Fresh.wallet, (address) => ({
  network: "eip155:196",
  address
}))

/** Bytes that are signed for an account nonce, with what tells one signing from another. */
export const signed = (accountNonce: number, version = "a"): SignedTransaction => ({
  hash: `0x${version}${accountNonce}`,
  bytes: `0x02${version}${accountNonce}`
})

/** Opens a transaction, signed by the account nonce that it is given. */
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

/** Account nonces of what a wallet has open, in the order in which it is listed. */
export const openNonces = Effect.fnUntraced(function* (wallet: GasWallet) {
  const store = yield* GasTransactionStore
  return (yield* store.listOpen(wallet, 1_000)).map(({ accountNonce }) => accountNonce)
})
