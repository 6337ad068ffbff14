import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import { freshName } from "./Agent.ts"

const MAILBOXES = "/api/v1/email/mailboxes"

/** Pages of every origin may buy. */
const CORS = [
  ["access-control-allow-origin", "*"],
  ["access-control-allow-headers", "*"],
  ["access-control-expose-headers", "*"]
] as const

/** The body of an answer to a purchase. */
export interface Bought {
  readonly data?: {
    readonly mailbox: { readonly mailboxId: string }
    readonly authentication: { readonly accessToken?: string; readonly next?: { readonly path: string } }
  }
  readonly error?: { readonly code: string; readonly message: string; readonly paymentState: string }
}

/** The answer that a site got for a payment of one of its customers. */
export interface Loot {
  readonly status: number
  readonly text: string
  readonly bought: Bought
}

const textOf = async (message: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of message) text += String(chunk)
  return text
}

/**
 * Starts a site that sells the weather. It shows its customers the challenge of a mailbox at this server as its own, and
 * presents their payments to this server with its own body.
 */
export const startRelaySite = async (baseUrl: string) => {
  const body = JSON.stringify({ localPart: freshName() })
  const key = randomUUID()
  const loot: Array<Loot> = []
  const order = (headers: Record<string, string>) =>
    fetch(`${baseUrl}${MAILBOXES}`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers }
    })
  /** Presents a payment to this server, and keeps the answer. */
  const present = async (payment: string): Promise<Loot> => {
    const answer = await order({ "payment-signature": payment, "idempotency-key": key })
    const text = await answer.text()
    const taken: Loot = { status: answer.status, text, bought: JSON.parse(text) as Bought }
    loot.push(taken)
    return taken
  }
  let payment = ""
  const site = createServer((request, response) => {
    for (const [name, value] of CORS) response.setHeader(name, value)
    if (request.method === "OPTIONS") return void response.end()
    void textOf(request).then(async () => {
      payment = String(request.headers["payment-signature"] ?? "")
      if (payment === "") {
        const challenge = await order({})
        response.writeHead(402, { "payment-required": challenge.headers.get("payment-required") ?? "" }).end("{}")
        return
      }
      await present(payment)
      response.writeHead(200, { "content-type": "application/json" }).end('{"weather":"sunny"}')
    })
  })
  await new Promise<void>((resolve) => void site.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    site.closeAllConnections()
    site.close()
  })
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  return { url, loot, presentAgain: () => present(payment) }
}
