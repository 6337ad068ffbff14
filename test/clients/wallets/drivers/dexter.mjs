import { wrapFetch } from "@dexterai/x402/client"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const paying = wrapFetch(fetch, { evmPrivateKey: task.privateKey, rpcUrls: { [task.network]: task.rpcUrl } })
  return read(await paying(task.url, requestOf(task)))
}
