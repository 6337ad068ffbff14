import { wrapFetchWithPayment } from "@b3dotfun/anyspend-x402-fetch"
import { createWalletClient, defineChain, http } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const chain = defineChain({
    id: task.chainId,
    name: "sandbox",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [task.rpcUrl] } }
  })
  const account = privateKeyToAccount(task.privateKey)
  const client = createWalletClient({ account, chain, transport: http() })
  return read(await wrapFetchWithPayment(fetch, client, 5_000_000n)(task.url, requestOf(task)))
}
