import { x402Client } from "@x402/core/client"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { randomUUID } from "node:crypto"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { answerParent } from "./ChildModule.ts"
import type { Work } from "./Side.ts"

/** Wallets that buy the same service with the stock client of x402, each one purchase at a time. */

export interface Buying {
  readonly url: string
  /** The private key of each wallet. */
  readonly keys: ReadonlyArray<Hex>
  readonly millis: number
  /** The network on which they pay (CAIP-2); by default the first one that the server offers. */
  readonly network?: string
}

const wallets = new Map<string, x402Client>()

const walletOf = (key: Hex, network: string): x402Client => {
  const known = wallets.get(key + network)
  if (known !== undefined) return known
  const client = new x402Client().register(network as `eip155:${string}`, new ExactEvmScheme(privateKeyToAccount(key)))
  client.setSpendControls(false)
  wallets.set(key + network, client)
  return client
}

/** Buys once: the challenge, its payment, and the service. */
const buy = async (wallet: x402Client, url: string): Promise<void> => {
  const body = JSON.stringify({ localPart: `m${randomUUID().replaceAll("-", "").slice(0, 24)}` })
  const headers = { "content-type": "application/json" }
  const asked = await fetch(url, { method: "POST", headers, body })
  await asked.arrayBuffer()
  const challenge = decodePaymentRequiredHeader(asked.headers.get("payment-required") ?? "")
  const payment = encodePaymentSignatureHeader(await wallet.createPaymentPayload(challenge))
  const bought = await fetch(url, {
    method: "POST",
    headers: { ...headers, "payment-signature": payment, "idempotency-key": randomUUID() },
    body
  })
  const text = await bought.text()
  if (bought.status !== 201 || !bought.headers.has("payment-response"))
    throw new Error(`the purchase was answered ${bought.status}: ${text}`)
}

answerParent(async ({ keys, millis, network = "eip155:*", url }: Buying): Promise<Work> => {
  const startedAt = performance.now()
  let count = 0
  const caller = async (wallet: x402Client) => {
    while (performance.now() - startedAt < millis) {
      await buy(wallet, url)
      count++
    }
  }
  await Promise.all(keys.map((key) => caller(walletOf(key, network))))
  return { count, millis: performance.now() - startedAt }
})
