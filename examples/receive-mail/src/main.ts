/** An agent that pays for a mailbox, waits for mail, reads it and says that it has done so. */
import { wrapAxiosWithPayment, x402Client } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import axios from "axios"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { privateKeyToAccount } from "viem/accounts"
import { WebSocket } from "ws"

// Where the service is and who pays: from the environment, or from the sandbox that runs on this machine.
const { values } = parseArgs({ options: { max: { type: "string" }, sandbox: { type: "string" } } })
const { AGENTOS_BASE_URL, AGENTOS_PRIVATE_KEY } = process.env
const sandboxFile = values.sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const sandbox = AGENTOS_BASE_URL && AGENTOS_PRIVATE_KEY ? undefined : JSON.parse(readFileSync(sandboxFile, "utf8"))
const baseURL: string = AGENTOS_BASE_URL ?? sandbox.baseUrl
const privateKey = (AGENTOS_PRIVATE_KEY ?? sandbox.wallets[0].privateKey) as `0x${string}`
let mailsLeft = Number(values.max ?? Number.POSITIVE_INFINITY)

// The payment is the wrapper's affair: it answers a 402 by signing what the challenge asks for, and asks again.
const wallet = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
const api = wrapAxiosWithPayment(axios.create({ baseURL }), wallet)

// The first paid call needs no account. It makes the mailbox, and gives the token for everything after it. Should the
// answer get lost, the same call with the same Idempotency-Key and payment is answered again, and charged once.
const created = await api.post(
  "/api/v1/email/mailboxes",
  { localPart: `agent-${randomUUID().slice(0, 8)}`, displayName: "Receiving agent" },
  { headers: { "Idempotency-Key": randomUUID() } }
)
const { authentication, mailbox } = created.data.data
api.defaults.headers.common["Authorization"] = `Bearer ${authentication.accessToken}`
console.log(`waiting for mail to ${mailbox.address}`)

/** What the agent does with an event. Only once it is done, and would not be lost, is the event acknowledged. */
const handle = async (event: { type: string; payload: { emailId: string } }): Promise<void> => {
  if (event.type !== "email.received") return
  // An event says that there is mail, and from whom; the mail itself is read by its id.
  const answer = await api.get("/api/v1/email/messages/query", { params: { messageId: event.payload.emailId } })
  const { from, subject, text } = answer.data.data.message
  console.log(`from ${from}: ${subject}\n${text}`)
  mailsLeft -= 1
}

/** One session: what was missed comes first, then what is new. Ends when the socket does. */
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
  // One at a time, in the order of their delivery. An event that could not be handled is delivered again.
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
