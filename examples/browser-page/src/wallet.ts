/** Wallets of a page. */
import type { WalletAccount } from "@agentos/client"
import { createWalletClient, custom, type EIP1193Provider } from "viem"
import { privateKeyToAccount } from "viem/accounts"

/** The wallet of an extension such as MetaMask. It asks its user before it signs (EIP-1193). */
const injectedWallet = async (provider: EIP1193Provider): Promise<WalletAccount> => {
  const client = createWalletClient({ transport: custom(provider) })
  const [account] = await client.requestAddresses()
  if (account === undefined) throw new Error("The wallet has no account.")
  return {
    address: account,
    signTypedData: async (typedData) => {
      // A wallet signs only for the chain that is selected in it.
      const chainId = Number(typedData.domain["chainId"])
      if ((await client.getChainId()) !== chainId) await client.switchChain({ id: chainId })
      return client.signTypedData({ account, ...typedData })
    },
    signMessage: ({ message }) => client.signMessage({ account, message })
  }
}

/** Returns the wallet with a key, else the wallet of the browser. */
export const openWallet = async (key: string): Promise<WalletAccount> => {
  if (key !== "") return privateKeyToAccount(key as `0x${string}`)
  const provider = (globalThis as { ethereum?: EIP1193Provider }).ethereum
  if (provider === undefined) throw new Error("Install a wallet in this browser, or type the key of a sandbox.")
  return injectedWallet(provider)
}
