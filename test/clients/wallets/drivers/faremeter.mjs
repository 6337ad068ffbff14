import { wrap } from "@faremeter/fetch"
import { createPaymentHandler } from "@faremeter/payment-evm/exact"
import { privateKeyToAccount } from "viem/accounts"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const account = privateKeyToAccount(task.privateKey)
  const wallet = { chain: { id: task.chainId, name: "sandbox" }, address: account.address, account }
  const asset = {
    address: task.asset,
    contractName: task.assetName,
    forwarder: "",
    forwarderName: "",
    forwarderVersion: ""
  }
  const handler = createPaymentHandler(wallet, { asset })
  return read(await wrap(fetch, { handlers: [handler] })(task.url, requestOf(task)))
}
