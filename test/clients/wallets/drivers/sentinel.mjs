import { sentinel } from "@x402sentinel/x402"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { privateKeyToAccount } from "viem/accounts"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(task.privateKey)))
  client.setSpendControls({
    allowedAssets: [{ network: task.network, asset: task.asset, maxAmountPerPayment: "5000000" }]
  })
  const paying = sentinel(wrapFetchWithPayment(fetch, client), { agentId: "clients" })
  return read(await paying(task.url, requestOf(task)))
}
