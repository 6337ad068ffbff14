import { Mppx, evm } from "mppx/client"
import { privateKeyToAccount } from "viem/accounts"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const account = privateKeyToAccount(task.privateKey)
  const mppx = Mppx.create({ methods: [evm({ account })], polyfill: false })
  return read(await mppx.fetch(task.url, requestOf(task)))
}
