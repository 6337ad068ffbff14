import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { privateKeyToAccount } from "viem/accounts"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(task.privateKey)))
  return read(await wrapFetchWithPayment(fetch, client)(task.url, requestOf(task)))
}
