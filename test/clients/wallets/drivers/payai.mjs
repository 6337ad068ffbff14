import { x402Client, x402HTTPClient } from "@payai/x402/client"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { privateKeyToAccount } from "viem/accounts"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(task.privateKey)))
  const http = new x402HTTPClient(client)
  const response = await fetch(task.url, requestOf(task))
  const required = http.getPaymentRequiredResponse((name) => response.headers.get(name), await response.json())
  const headers = http.encodePaymentSignatureHeader(await http.createPaymentPayload(required))
  return read(await fetch(task.url, requestOf({ ...task, headers: { ...task.headers, ...headers } })))
}
