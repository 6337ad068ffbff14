/** An agent that pays for a mailbox, waits for mail, reads it and acknowledges it. */
import { wrapAxiosWithPayment, x402Client } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import axios from "axios"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { privateKeyToAccount } from "viem/accounts"
import { WebSocket } from "ws"

// The URL of the service and the paying wallet: from the environment, or from a sandbox on this machine.
const { values } = parseArgs({ options: { max: { type: "string" }, sandbox: { type: "string" } } })
const { AGENTOS_BASE_URL, AGENTOS_PRIVATE_KEY } = process.env
const sandboxFile = values.sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const sandbox = AGENTOS_BASE_URL && AGENTOS_PRIVATE_KEY ? undefined : JSON.parse(readFileSync(sandboxFile, "utf8"))
const baseURL: string = AGENTOS_BASE_URL ?? sandbox.baseUrl
const privateKey = (AGENTOS_PRIVATE_KEY ?? sandbox.wallets[0].privateKey) as `0x${string}`
let mailsLeft = Number(values.max ?? Number.POSITIVE_INFINITY)

// The wrapper pays: after a 402 it signs the payment in the challenge and sends the request again.
const wallet = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
const api = wrapAxiosWithPayment(axios.create({ baseURL }), wallet)

// The first paid request needs no account. It creates the mailbox and returns the token for all later requests. If the
// response is lost, retry with the same Idempotency-Key and payment: the request is charged once.
const created = await api.post(
  "/api/v1/email/mailboxes",
  { localPart: `agent-${randomUUID().slice(0, 8)}`, displayName: "Receiving agent" },
  { headers: { "Idempotency-Key": randomUUID() } }
)
const { authentication, mailbox } = created.data.data
api.defaults.headers.common["Authorization"] = `Bearer ${authentication.accessToken}`
console.log(`waiting for mail to ${mailbox.address}`)

/** Handles an event. The event is acknowledged afterwards, so it is delivered again if the agent crashes here. */
const handle = async (event: { type: string; payload: { emailId: string } }): Promise<void> => {
  if (event.type !== "email.received") return
  // The event contains only the id and the sender of the mail.
  const response = await api.get("/api/v1/email/messages/query", { params: { messageId: event.payload.emailId } })
  const { from, subject, text } = response.data.data.message
  console.log(`from ${from}: ${subject}\n${text}`)
  mailsLeft -= 1
}

/** Runs one session: missed events first, then new ones. Ends when the socket closes. */
const session = async (): Promise<void> => {
  const { realtime } = (await api.get("/api/v1/events/realtime-token")).data.data
  const socket = new WebSocket(realtime.websocketUrl)
  socket.on("open", () => socket.send(JSON.stringify({ type: "session.authenticate", token: realtime.token })))
  const receive = async (text: string): Promise<void> => {
    const message = JSON.parse(text)
    if (message.type === "event.acknowledged" && mailsLeft <= 0) socket.close()
    if (message.type !== "event.delivery" || mailsLeft <= 0) return
    await handle(message.event)
    socket.send(JSON.stringify({ type: "event.ack", eventId: message.event.eventId }))
  }
  // One event at a time, in order. An event whose handling fails is delivered again.
  let done = Promise.resolve()
  socket.on("message", (data: Buffer) => {
    done = done.then(() => receive(data.toString())).catch(() => socket.terminate())
  })
  socket.on("error", (error) => console.error(error.message))
  await new Promise((resolve) => socket.once("close", resolve))
}

while (mailsLeft > 0) {
  await session().catch((error: unknown) => console.error(String(error)))
  if (mailsLeft > 0) await sleep(1_000)
}
