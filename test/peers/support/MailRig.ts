import { randomUUID } from "node:crypto"
import { createServer } from "node:net"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createTransport } from "nodemailer"
import { expect, vi } from "vitest"
import type { SandboxDescription } from "@agentos/sandbox"
import { Agent, freshName, type MailboxFields } from "../../support/Agent.ts"
import { type Sandbox, startSandbox } from "../../support/Sandbox.ts"
import { type NextHop, startNextHop } from "./NextHop.ts"
import { type Recorder, startRecorder } from "./Recorder.ts"

/** Environment variable with the port of the relay, which `relayedServerMain.ts` reads. */
export const RELAY_PORT_VARIABLE = "TEST_RELAY_PORT"

const PATIENCE_MILLIS = 60_000

/** Returns a free port of the loopback address, below those of outgoing connections. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 10_000)
    const probe = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false))
      probe.listen(port, "127.0.0.1", () => resolve(true))
    })
    if (!isFree) continue
    probe.close()
    await once(probe, "close")
    return port
  }
}

/** The fields of a message that these tests read. */
export interface MessageRecord {
  readonly messageId: string
  readonly threadId: string
  readonly direction: string
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly replyTo: ReadonlyArray<string>
  readonly subject: string
  readonly text: string | null
  readonly extractedText: string | null
  readonly status: string
  readonly automatic: string | null
  readonly mailingList: { readonly listId: string | null; readonly post: string | null } | null
  readonly messageIdHeader: string
  readonly malformed: boolean
  readonly attachments: ReadonlyArray<{ readonly contentType: string }>
  readonly recipients: ReadonlyArray<{
    readonly address: string
    readonly status: string
    readonly reason: string | null
  }>
}

/** A mailbox of the service, as its owner uses it. */
export class RigMailbox {
  readonly address: string
  readonly mailboxId: string
  readonly #agent: Agent

  constructor(agent: Agent, { address, mailboxId }: MailboxFields) {
    this.#agent = agent
    this.address = address
    this.mailboxId = mailboxId
  }

  /** Sends a mail, and returns its messageId. */
  async send(to: string | ReadonlyArray<string>, content: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const body = {
      mailboxId: this.mailboxId,
      to: typeof to === "string" ? [to] : to,
      subject: "Invoice 4711",
      text: "Please find the invoice below.",
      ...content
    }
    const reply = await this.#agent.pay({ path: "/api/v1/email/messages/send", body })
    if (reply.status !== 201) throw new Error(`expected a message, got ${reply.status}: ${reply.text}`)
    return (reply.body.data["message"]! as MessageRecord).messageId
  }

  async message(messageId: string): Promise<MessageRecord> {
    const reply = await this.#agent.send({ path: `/api/v1/email/messages/query?messageId=${messageId}` })
    if (reply.status !== 200) throw new Error(`expected a message, got ${reply.status}: ${reply.text}`)
    return reply.body.data["message"]! as MessageRecord
  }

  /** Returns the received messages, newest first. */
  async received(): Promise<ReadonlyArray<MessageRecord>> {
    const reply = await this.#agent.send({ path: `/api/v1/email/messages/query?mailboxId=${this.mailboxId}` })
    if (reply.status !== 200) throw new Error(`expected a list, got ${reply.status}: ${reply.text}`)
    const items = reply.body.data["items"] as unknown as ReadonlyArray<MessageRecord>
    return items.filter(({ direction }) => direction === "inbound")
  }

  /** Waits until a recipient of a sent message has another status than `sent` and `queued`; returns the recipients. */
  async settled(messageId: string): Promise<MessageRecord["recipients"]> {
    let recipients: MessageRecord["recipients"] = []
    await expect
      .poll(async () => {
        recipients = (await this.message(messageId)).recipients
        return recipients.map(({ status }) => status)
      })
      .not.toEqual(expect.arrayContaining([expect.stringMatching(/^(?:sent|queued)$/)]))
    return recipients
  }

  /** Returns the addresses to which the owner may no longer write. */
  async suppressed(): Promise<ReadonlyArray<string>> {
    const reply = await this.#agent.send({ path: "/api/v1/email/suppressions/query" })
    if (reply.status !== 200) throw new Error(`expected a list, got ${reply.status}: ${reply.text}`)
    return (reply.body.data["items"] as unknown as ReadonlyArray<{ readonly address: string }>).map(
      ({ address }) => address
    )
  }

  /** Waits for a received message, and returns it with its bodies. */
  async arrived(isMeant: (message: MessageRecord) => boolean = () => true): Promise<MessageRecord> {
    let found: MessageRecord | undefined
    await expect
      .poll(async () => {
        found = (await this.received()).find(isMeant)
        return found
      })
      .toBeDefined()
    return this.message(found!.messageId)
  }
}

/** The service with a relay of the test, and a next hop behind it. */
export class MailRig {
  readonly sandbox: SandboxDescription
  readonly nextHop: NextHop
  /** The port at which the service expects its relay. */
  readonly relayPort: number
  readonly #running: Sandbox
  readonly #recorder: Recorder
  readonly #agent: Agent

  private constructor(
    running: Sandbox,
    sandbox: SandboxDescription,
    recorder: Recorder,
    nextHop: NextHop,
    relayPort: number
  ) {
    this.#recorder = recorder
    this.#running = running
    this.sandbox = sandbox
    this.nextHop = nextHop
    this.relayPort = relayPort
    this.#agent = new Agent(sandbox, sandbox.wallets[0]!.privateKey)
  }

  static async start(options: { readonly hasDsn?: boolean } = {}): Promise<MailRig> {
    const relayPort = await freePort()
    const nextHop = await startNextHop(options)
    const running = await startSandbox({
      environment: {
        AGENTOS_SANDBOX_SERVER_MODULE: fileURLToPath(new URL("relayedServerMain.ts", import.meta.url)),
        [RELAY_PORT_VARIABLE]: String(relayPort)
      }
    })
    const sandbox = await running.describe()
    return new MailRig(running, sandbox, await startRecorder(sandbox.mail.port), nextHop, relayPort)
  }

  /** The domain of the service. */
  get domain(): string {
    return this.sandbox.emailDomain
  }

  /** The PEM file of the key that signs outbound mail. */
  get dkimKeyFile(): string {
    return join(this.#running.directory, "server", "dkim.pem")
  }

  /** The port at which the service receives mail. */
  get smtpPort(): number {
    return this.#recorder.port
  }

  async mailbox(localPart: string = freshName()): Promise<RigMailbox> {
    return new RigMailbox(this.#agent, await this.#agent.createMailbox(localPart))
  }

  /** Submits a mail of a person outside to a server, by default to the service. */
  async submit(
    envelope: { readonly from: string; readonly to: string | Array<string> },
    content: { readonly subject?: string; readonly text?: string; readonly headers?: Record<string, string> } = {},
    port: number = this.smtpPort
  ): Promise<string> {
    const transport = createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
    const messageId = `<${randomUUID()}@outside.test>`
    await transport.sendMail({
      envelope,
      from: envelope.from,
      to: envelope.to,
      messageId,
      subject: "Question",
      text: "Hello, how are you?",
      ...content
    })
    transport.close()
    return messageId
  }

  /** Passes on a mail that a program wrote, byte for byte but for its line ends. */
  async submitRaw(envelope: { readonly from: string; readonly to: string | Array<string> }, raw: string) {
    const transport = createTransport({ host: "127.0.0.1", port: this.smtpPort, ignoreTLS: true })
    await transport.sendMail({ envelope, raw: raw.replaceAll(/\r?\n/g, "\r\n") })
    transport.close()
  }

  /** Waits until the next hop has a mail to an address, and returns it. */
  async forwarded(recipient: string) {
    const isMeant = ({ rcptTo }: { readonly rcptTo: ReadonlyArray<string> }) => rcptTo.includes(recipient)
    await expect.poll(() => this.nextHop.mails.some(isMeant)).toBe(true)
    return this.nextHop.mails.find(isMeant)!
  }

  async close(): Promise<void> {
    await this.#running.stop()
    this.#recorder.close()
    await this.nextHop.close()
  }
}

/** Waits until a server on the loopback address greets. */
export const untilGreeted = (port: number): Promise<unknown> =>
  vi.waitFor(() => createTransport({ host: "127.0.0.1", port, ignoreTLS: true }).verify(), {
    timeout: PATIENCE_MILLIS,
    interval: 100
  })
