/**
 * A journey of an agent without a public address: it signs up at a website with a code from mail, answers a reply with an
 * attachment, answers a call over its socket, loses its token and recovers it with a signature.
 */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { BOB, bobCalls, bobReplies, type Sandbox, Website } from "./Outside.ts"
import { connect } from "./Service.ts"

const { values } = parseArgs({ options: { sandbox: { type: "string" } } })
const sandboxFile = values.sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const sandbox: Sandbox = JSON.parse(readFileSync(sandboxFile, "utf8"))
const service = connect({
  baseUrl: sandbox.baseUrl,
  privateKey: sandbox.wallets[0]!.privateKey,
  spending: { network: sandbox.chain.network, asset: sandbox.chain.asset, maxAmountPerPayment: "5000000" }
})

interface Message {
  messageId: string
  threadId: string
  from: string
  text: string
  /** The new part of a reply, without quotes. */
  extractedText: string
  authentication: { dmarc: string; domain: string | null }
}

interface Delivery {
  type: string
  event: { eventId: string; type: string; payload: { emailId: string } }
}

/** Waits for a mail that matches. Events are acknowledged after they are handled, or they are delivered again. */
const receive = async (matches: (message: Message) => boolean): Promise<Message> => {
  for await (const { answer, message: delivery } of service.session<Delivery>("deliver")) {
    if (delivery.type !== "event.delivery") continue
    const { eventId, payload, type } = delivery.event
    // An event contains no text of the mail, only its id.
    const mail =
      type === "email.received"
        ? (await service.call<{ message: Message }>("GET", `email/messages/query?messageId=${payload.emailId}`)).message
        : undefined
    answer({ type: "event.ack", eventId })
    if (mail !== undefined && matches(mail)) return mail
  }
  throw new Error("the session ended before the mail arrived")
}

// The first purchase needs no account: it creates the mailbox and returns the token for all that follows.
const { authentication, mailbox } = await service.call<{
  authentication: { accessToken: string }
  mailbox: { mailboxId: string; address: string }
}>("POST", "email/mailboxes", { localPart: `agent-${randomUUID().slice(0, 8)}`, displayName: "Agent" })
service.token = authentication.accessToken
console.log(`bought ${mailbox.address} and the token ${service.token}`)

// Sign up at a website. Anyone can send a code, so the agent takes it only from the website's verified domain.
const website = new Website(sandbox)
await website.signUp(mailbox.address)
const isFromWebsite = (message: Message) =>
  message.from === "no-reply@outside.example" && message.authentication.domain === "outside.example"
const code = /\b\d{6}\b/.exec((await receive(isFromWebsite)).text)?.[0] ?? ""
if (!website.confirm(mailbox.address, code)) throw new Error("the website rejected the code")
console.log(`signed up with the code ${code}`)

// Write to Bob, and answer his reply with a file, in the same thread.
const { mailboxId } = mailbox
const { message: offer } = await service.call<{ message: Message }>("POST", "email/messages/send", {
  mailboxId,
  to: [BOB.address],
  subject: "Our offer",
  text: "Hello Bob\nMay I send you our prices?"
})
await bobReplies(sandbox, mailbox.address, "Yes, please.")
const reply = await receive(({ threadId }) => threadId === offer.threadId)
console.log(`${reply.from} wrote: ${reply.extractedText}`)
const priceList = readFileSync(new URL("../price-list.csv", import.meta.url))
await service.call("POST", "email/messages/send", {
  mailboxId,
  to: [reply.from],
  subject: "Re: Our offer",
  text: "Here they are.",
  inReplyTo: reply.messageId,
  attachments: [{ filename: "price-list.csv", contentType: "text/csv", contentBase64: priceList.toString("base64") }]
})
console.log("answered with price-list.csv")

// Answer a call. The agent has no public address: the URL is a placeholder, and the turns arrive over its socket.
const { number, phoneNumberId } = await service.call<{ number: string; phoneNumberId: string }>(
  "POST",
  "phone/purchase-us-number-30-days",
  { agentName: "Agent", agentWebhookUrl: "https://agent.invalid/", beginMessage: "Hello, this is an agent." }
)
await service.call("POST", "phone/add-inbound-minutes-10", { phoneNumberId })

interface Turn {
  type: string
  callId: string
  turnId: string
  turn: { text: string }
}

let heard: Promise<ReadonlyArray<string>> | undefined
for await (const { answer, message } of service.session<Turn>("voice")) {
  if (message.type === "session.ready") heard = bobCalls(sandbox, number, ["Did you send the prices?", "Thanks. Bye."])
  if (message.type !== "call.turn") continue
  const { callId, turn, turnId } = message
  const isLast = /\bbye\b/i.test(turn.text)
  answer({ type: "call.reply", callId, turnId, text: isLast ? "Goodbye." : `You said: ${turn.text}`, hangup: isLast })
  if (isLast) break
}
console.log(`${number} was called, and Bob heard: ${(await heard)?.join(" / ")}`)

// Lose the token, and recover it: the wallet signs a message, which costs nothing.
service.token = undefined
const recovered = await service.call<{ authentication: { accessToken: string } }>("POST", "auth/token")
service.token = recovered.authentication.accessToken
console.log(`recovered the token ${service.token}`)
const { items } = await service.call<{ items: ReadonlyArray<Message> }>("GET", "email/messages/query")
console.log(`read ${items.length} messages with it`)
