import type { WalletAccount } from "@agentos/client"
import { privateKeyToAccount } from "viem/accounts"
import type { PrivateKey } from "./PrivateKey.ts"

/*
 * The only module that loads viem, and the last one that a payment loads.
 */

/** Returns the account of a key, which signs. */
export const accountOf = (key: PrivateKey): WalletAccount => {
  const { address, signMessage: sign, signTypedData } = privateKeyToAccount(key.revealHex())
  return {
    address,
    signMessage: (message) => sign(message),
    signTypedData: (typedData) => signTypedData(typedData as Parameters<typeof signTypedData>[0])
  }
}
