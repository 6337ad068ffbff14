import type { WalletAccount } from "@agentos/client"
import { privateKeyToAccount } from "viem/accounts"
import type { PrivateKey } from "./PrivateKey.ts"

/*
 * The only module that loads viem, and the last one that a payment loads.
 */

/** A transaction without value, at a price of gas. */
export interface Transaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: `0x${string}`
  readonly data: `0x${string}`
  readonly gas: bigint
  readonly gasPrice: bigint
}

/** Returns a signed transaction, as `eth_sendRawTransaction` takes it. */
export const signTransaction = (key: PrivateKey, transaction: Transaction): Promise<string> =>
  privateKeyToAccount(key.revealHex()).signTransaction({ ...transaction, type: "legacy" })

/** Returns the account of a key, which signs. */
export const accountOf = (key: PrivateKey): WalletAccount => {
  const { address, signMessage: sign, signTypedData } = privateKeyToAccount(key.revealHex())
  return {
    address,
    signMessage: (message) => sign(message),
    signTypedData: (typedData) => signTypedData(typedData as Parameters<typeof signTypedData>[0])
  }
}
