import { createThirdwebClient, defineChain } from "thirdweb"
import { privateKeyToAccount } from "thirdweb/wallets"
import { wrapFetchWithPayment } from "thirdweb/x402"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const client = createThirdwebClient({ clientId: "agentos-clients" })
  const account = privateKeyToAccount({ client, privateKey: task.privateKey })
  const chain = defineChain({ id: task.chainId, rpc: task.rpcUrl })
  const wallet = { getAccount: () => account, getChain: () => chain, switchChain: async () => {} }
  return read(await wrapFetchWithPayment(fetch, client, wallet)(task.url, requestOf(task)))
}
