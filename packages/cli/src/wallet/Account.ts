import type { WalletAccount } from "@agentos/client"
import { privateKeyToAccount } from "viem/accounts"
import { keccak256, type PrivateKey } from "./PrivateKey.ts"

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

/** Returns a signed transaction, as `eth_sendRawTransaction` takes it, and its hash. */
export const signTransaction = async (key: PrivateKey, transaction: Transaction) => {
  const bytes = await privateKeyToAccount(key.revealHex()).signTransaction({ ...transaction, type: "legacy" })
  return { bytes, hash: `0x${keccak256(Buffer.from(bytes.slice(2), "hex")).toString("hex")}` }
}

/** Returns the account of a key, which signs. */
export const accountOf = (key: PrivateKey): WalletAccount => {
  const { address, signMessage: sign, signTypedData } = privateKeyToAccount(key.revealHex())
  return {
    address,
    signMessage: (message) => sign(message),
    signTypedData: (typedData) => signTypedData(typedData as Parameters<typeof signTypedData>[0])
  }
}
