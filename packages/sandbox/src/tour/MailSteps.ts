import { randomBytes } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createTransport } from "nodemailer"
import type { SandboxDescription } from "../supervisor/SandboxFile.ts"
import { expectEqual, Unexpected, within } from "./Expectation.ts"
import type { TourClient } from "./TourClient.ts"
import type { TourSocket } from "./TourSocket.ts"
import { type Outcome, paymentProof, type Visit } from "./TourStep.ts"

const outsideSender = ({ mail }: SandboxDescription): string => `visitor@${mail.outside.domain}`

/** A mailbox of the tour's. */
export interface Mailbox {
  readonly mailboxId: string
  readonly address: string
}
interface Message {
  readonly messageId: string
  readonly subject: string
  readonly text: string
  readonly messageIdHeader: string
  readonly authentication: Readonly<Record<"spf" | "dkim" | "dmarc", string>> & { readonly domain: string | null }
}
interface DurableEvent {
  readonly eventId: string
  readonly status: string
}

/** Buys a mailbox. From then on the client has the wallet's access token. */
export const createMailbox = async (client: TourClient, price: string): Promise<Outcome<Mailbox>> => {
  const paid = await client.pay<{
    readonly mailbox: Mailbox
    readonly authentication: { readonly accessToken: string }
  }>(
    "/api/v1/email/mailboxes",
    { localPart: `tour-${randomBytes(4).toString("hex")}`, displayName: "Tour" },
    price,
    201
  )
  const { authentication, mailbox } = paid.data
  if (!authentication.accessToken.startsWith("at_v1_")) throw new Unexpected("an access token at_v1_…", "none")
  client.useToken(authentication.accessToken)
  return { value: mailbox, proof: `${mailbox.address}; ${paymentProof(paid)}` }
}

/** Lets mail come in, is told of it, reads, acknowledges and answers it. */
export const takeMailSteps = async (visit: Visit, socket: TourSocket, mailbox: Mailbox): Promise<void> => {
  const { client, priceOf, sandbox, step } = visit
  const mail = { subject: `Tour ${randomBytes(4).toString("hex")}`, text: "Is anybody there?" }
  const sent = await step("Send mail from outside", () => sendFromOutside(sandbox, mailbox, mail))
  const event = await step("Be told of it", () => awaitEvent(socket, mailbox, sent.at))
  const message = await step("Read the message", () => readMessage(visit, event.emailId, mail.text))
  await step("Acknowledge the event", () => acknowledge(socket, event.eventId))
  await step("Answer by email", () => answerMail(client, sandbox, mailbox, message, priceOf("email.message.send")))
  await step("List what is acknowledged", () => listAcknowledged(client, event.eventId))
}

const sendFromOutside = async (
  sandbox: SandboxDescription,
  mailbox: Mailbox,
  content: { readonly subject: string; readonly text: string }
): Promise<Outcome<{ readonly at: number }>> => {
  const { host, outside, port } = sandbox.mail
  const transport = createTransport({ host, port, tls: { rejectUnauthorized: false } })
  const dkim = {
    domainName: outside.domain,
    keySelector: outside.dkimSelector,
    privateKey: await readFile(outside.dkimKeyFile, "utf8")
  }
  const answer = await transport.sendMail({ from: outsideSender(sandbox), to: mailbox.address, ...content, dkim })
  if (!answer.response.startsWith("250")) throw new Unexpected("the SMTP answer 250", answer.response)
  return { value: { at: performance.now() }, proof: `SMTP says ${answer.response}` }
}

const awaitEvent = async (
  socket: TourSocket,
  mailbox: Mailbox,
  sentAt: number
): Promise<Outcome<{ readonly eventId: string; readonly emailId: string }>> => {
  const { event } = await socket.next(
    "an event.delivery of email.received",
    ({ event: received }) => received?.type === "email.received" && received.payload["mailboxId"] === mailbox.mailboxId
  )
  const millis = Math.max(0, Math.round(performance.now() - sentAt))
  return {
    value: { eventId: event!.eventId, emailId: String(event!.payload["emailId"]) },
    proof: `event ${event!.eventId}, ${millis} ms after the mail was taken`
  }
}

const readMessage = async ({ client, sandbox }: Visit, emailId: string, text: string): Promise<Outcome<Message>> => {
  const path = `/api/v1/email/messages/query?messageId=${emailId}`
  const { message } = await client.get<{ readonly message: Message }>(path)
  expectEqual("the text", message.text.trim(), text)
  const { dkim, dmarc, domain, spf } = message.authentication
  expectEqual("the proven domain", domain, sandbox.mail.outside.domain)
  return { value: message, proof: `"${message.text.trim()}" (spf ${spf}, dkim ${dkim}, dmarc ${dmarc})` }
}

const acknowledge = async (socket: TourSocket, eventId: string): Promise<Outcome<void>> => {
  socket.send({ type: "event.ack", eventId })
  await socket.next(
    "event.acknowledged",
    (message) => message.type === "event.acknowledged" && message.eventId === eventId
  )
  return { value: undefined, proof: "event.acknowledged" }
}

const answerMail = async (
  client: TourClient,
  sandbox: SandboxDescription,
  mailbox: Mailbox,
  message: Message,
  price: string
): Promise<Outcome<void>> => {
  const paid = await client.pay<{ readonly message: Message }>(
    "/api/v1/email/messages/send",
    {
      mailboxId: mailbox.mailboxId,
      to: [outsideSender(sandbox)],
      subject: `Re: ${message.subject}`,
      text: "Yes, I am."
    },
    price,
    201
  )
  const { messageIdHeader } = paid.data.message
  const file = await within(
    5_000,
    `a signed mail ${messageIdHeader} in the outbox`,
    findSigned(sandbox, messageIdHeader)
  )
  return { value: undefined, proof: `${messageIdHeader} DKIM-signed in ${file}; ${paymentProof(paid)}` }
}

/** The file in the outbox that holds a mail, once it is there and has a signature. */
const findSigned = async ({ mail }: SandboxDescription, messageIdHeader: string): Promise<string> => {
  for (;;) {
    for (const entry of await readdir(mail.outboxDir, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue
      const [header = ""] = (await readFile(join(entry.parentPath, entry.name), "utf8")).split(/\r?\n\r?\n/, 1)
      if (header.includes(messageIdHeader) && /^DKIM-Signature:/im.test(header)) return entry.name
    }
    await sleep(50)
  }
}

const listAcknowledged = async (client: TourClient, eventId: string): Promise<Outcome<void>> => {
  const { items } = await client.post<{ readonly items: ReadonlyArray<DurableEvent> }>("/api/v1/events/list", {
    status: "acknowledged",
    types: ["email.received"]
  })
  if (!items.some((event) => event.eventId === eventId && event.status === "acknowledged")) {
    throw new Unexpected(`${eventId} among the acknowledged events`, `${items.length} others`)
  }
  return { value: undefined, proof: `${eventId} is acknowledged` }
}
