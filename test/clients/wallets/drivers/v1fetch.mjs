import { privateKeyToAccount } from "viem/accounts"
import { wrapFetchWithPayment } from "x402-fetch"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const account = privateKeyToAccount(task.privateKey)
  return read(await wrapFetchWithPayment(fetch, account, 5_000_000n)(task.url, requestOf(task)))
}
