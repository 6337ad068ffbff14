import { createX402Client } from "x402-solana/client"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const wallet = { address: "11111111111111111111111111111111", signTransaction: async (transaction) => transaction }
  return read(await createX402Client({ wallet, network: "solana-devnet" }).fetch(task.url, requestOf(task)))
}
