import { X402Client } from "uvd-x402-sdk"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const client = new X402Client({ defaultChain: "base" })
  await client.connectWithPrivateKey(task.privateKey)
  const { paymentHeader } = await client.createPayment({ recipient: task.payTo, amount: "0.25" })
  return read(await fetch(task.url, requestOf({ ...task, headers: { ...task.headers, "X-PAYMENT": paymentHeader } })))
}
