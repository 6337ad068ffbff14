import { wrapAxiosWithPayment, x402Client } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import axios from "axios"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { privateKeyToAccount } from "viem/accounts"

/** Buys a US number for an agent, and ten minutes of inbound calls. */
export const buyNumber = async (agentWebhookUrl: string, sandboxFile: string | URL) => {
  // The URL of the service and the paying wallet: from the environment, or from a sandbox on this machine.
  const { AGENTOS_BASE_URL, AGENTOS_PRIVATE_KEY } = process.env
  const sandbox = AGENTOS_BASE_URL && AGENTOS_PRIVATE_KEY ? undefined : JSON.parse(readFileSync(sandboxFile, "utf8"))
  const privateKey = (AGENTOS_PRIVATE_KEY ?? sandbox.wallets[0].privateKey) as `0x${string}`
  const wallet = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
  const api = wrapAxiosWithPayment(axios.create({ baseURL: AGENTOS_BASE_URL ?? sandbox.baseUrl }), wallet)
  const buy = async (path: string, body: object) =>
    (await api.post(`/api/v1/phone/${path}`, body, { headers: { "Idempotency-Key": randomUUID() } })).data.data

  const agent = { agentName: "Answering agent", agentWebhookUrl, beginMessage: "Hello, this is an agent." }
  const { authentication, callbackVerificationSecret, number, phoneNumberId } = await buy(
    "purchase-us-number-30-days",
    agent
  )
  api.defaults.headers.common["Authorization"] = `Bearer ${authentication.accessToken}`
  await buy("add-inbound-minutes-10", { phoneNumberId })
  return { number: String(number), secret: String(callbackVerificationSecret) }
}
