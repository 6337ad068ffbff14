import { randomBytes } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createTransport } from "nodemailer"
import type { SandboxDescription } from "../supervisor/SandboxFile.ts"
import { expectEqual, ExpectationFailed, within } from "./Expectation.ts"
import type { TourClient, TourSocket } from "./TourClient.ts"
import { paymentEvidence, type StepResult, type TourContext } from "./TourStep.ts"

const outsideSender = ({ mail }: SandboxDescription): string => `visitor@${mail.outside.domain}`

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

/** Buys a mailbox. The client then uses the wallet's access token. */
export const createMailbox = async (client: TourClient, price: string): Promise<StepResult<Mailbox>> => {
  const paid = await client.pay<{
    readonly mailbox: Mailbox
    readonly authentication: { readonly accessToken?: string }
  }>(
    "/api/v1/email/mailboxes",
    { localPart: `tour-${randomBytes(4).toString("hex")}`, displayName: "Tour" },
    price,
    201
  )
  const { authentication, mailbox } = paid.data
  // A later tour of this wallet: a payment returns no token that exists.
  const accessToken = authentication.accessToken ?? (await client.signIn())
  if (!accessToken.startsWith("at_v1_")) throw new ExpectationFailed("an access token at_v1_…", "none")
  client.useToken(accessToken)
  return { value: mailbox, evidence: `${mailbox.address}; ${paymentEvidence(paid)}` }
}

/** Receives mail and its event, reads the mail, acknowledges the event and replies. */
export const runMailSteps = async (context: TourContext, socket: TourSocket, mailbox: Mailbox): Promise<void> => {
  const { client, priceOf, sandbox, step } = context
  const mail = { subject: `Tour ${randomBytes(4).toString("hex")}`, text: "Are you there?" }
  const sent = await step("Send mail to the mailbox", () => sendMail(sandbox, mailbox, mail))
  const event = await step("Receive the event", () => awaitEvent(socket, mailbox, sent.at))
  const message = await step("Read the message", () => readMessage(context, event.emailId, mail.text))
  await step("Acknowledge the event", () => acknowledge(socket, event.eventId))
  await step("Reply by email", () => reply(client, sandbox, mailbox, message, priceOf("email.message.send")))
  await step("List acknowledged events", () => listAcknowledged(client, event.eventId))
}

const sendMail = async (
  sandbox: SandboxDescription,
  mailbox: Mailbox,
  content: { readonly subject: string; readonly text: string }
): Promise<StepResult<{ readonly at: number }>> => {
  const { host, outside, port } = sandbox.mail
  const transport = createTransport({ host, port, tls: { rejectUnauthorized: false } })
  const dkim = {
    domainName: outside.domain,
    keySelector: outside.dkimSelector,
    privateKey: await readFile(outside.dkimKeyFile, "utf8")
  }
  const sent = await transport.sendMail({ from: outsideSender(sandbox), to: mailbox.address, ...content, dkim })
  if (!sent.response.startsWith("250")) throw new ExpectationFailed("the SMTP reply 250", sent.response)
  return { value: { at: performance.now() }, evidence: `SMTP reply: ${sent.response}` }
}

const awaitEvent = async (
  socket: TourSocket,
  mailbox: Mailbox,
  sentAt: number
): Promise<StepResult<{ readonly eventId: string; readonly emailId: string }>> => {
  const { event } = await socket.next(
    "an event.delivery of email.received",
    ({ event: received }) => received?.type === "email.received" && received.payload["mailboxId"] === mailbox.mailboxId
  )
  const millis = Math.max(0, Math.round(performance.now() - sentAt))
  return {
    value: { eventId: event!.eventId, emailId: String(event!.payload["emailId"]) },
    evidence: `event ${event!.eventId}, ${millis} ms after the SMTP reply`
  }
}

const readMessage = async (
  { client, sandbox }: TourContext,
  emailId: string,
  text: string
): Promise<StepResult<Message>> => {
  const path = `/api/v1/email/messages/query?messageId=${emailId}`
  const { message } = await client.get<{ readonly message: Message }>(path)
  expectEqual("text", message.text.trim(), text)
  const { dkim, dmarc, domain, spf } = message.authentication
  expectEqual("authenticated domain", domain, sandbox.mail.outside.domain)
  return { value: message, evidence: `"${message.text.trim()}" (spf ${spf}, dkim ${dkim}, dmarc ${dmarc})` }
}

const acknowledge = async (socket: TourSocket, eventId: string): Promise<StepResult<void>> => {
  socket.send({ type: "event.ack", eventId })
  await socket.next(
    "event.acknowledged",
    (message) => message.type === "event.acknowledged" && message.eventId === eventId
  )
  return { value: undefined, evidence: "event.acknowledged" }
}

const reply = async (
  client: TourClient,
  sandbox: SandboxDescription,
  mailbox: Mailbox,
  message: Message,
  price: string
): Promise<StepResult<void>> => {
  const paid = await client.pay<{ readonly message: Message }>(
    "/api/v1/email/messages/send",
    {
      mailboxId: mailbox.mailboxId,
      to: [outsideSender(sandbox)],
      subject: `Re: ${message.subject}`,
      text: "Yes."
    },
    price,
    201
  )
  const { messageIdHeader } = paid.data.message
  const file = await within(
    30_000,
    `mail ${messageIdHeader} with a DKIM signature in the outbox`,
    findSigned(sandbox, messageIdHeader)
  )
  return { value: undefined, evidence: `${messageIdHeader} DKIM-signed in ${file}; ${paymentEvidence(paid)}` }
}

/** Waits for the signed mail in the outbox and returns its file name. */
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

const listAcknowledged = async (client: TourClient, eventId: string): Promise<StepResult<void>> => {
  const { items } = await client.post<{ readonly items: ReadonlyArray<DurableEvent> }>("/api/v1/events/list", {
    status: "acknowledged",
    types: ["email.received"]
  })
  if (!items.some((event) => event.eventId === eventId && event.status === "acknowledged")) {
    throw new ExpectationFailed(`${eventId} among the acknowledged events`, `${items.length} others`)
  }
  return { value: undefined, evidence: `${eventId} is acknowledged` }
}
