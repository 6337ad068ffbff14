import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { Agent as HttpAgent, type IncomingMessage, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { createTransport } from "nodemailer"
import { WebSocket } from "ws"
import { Agent } from "../support/Agent.ts"
import { type HonestAction, type HonestReport, HonestStatistics } from "./HonestStatistics.ts"

export interface HonestClientOptions {
  readonly baseUrl: string
  readonly smtpHost: string
  readonly smtpPort: number
  readonly token: string
  readonly privateKey: `0x${string}`
  readonly mailboxId: string
  readonly mailboxAddress: string
  readonly localAddress: string
}

const REQUEST_EVERY_MILLIS = 50
const MAIL_EVERY_MILLIS = 2_000
const PAYMENT_EVERY_MILLIS = 5_000
const REQUEST_TIMEOUT_MILLIS = 20_000
const EVENT_TIMEOUT_MILLIS = 30_000
const RECONNECT_MILLIS = 500

interface Probe {
  readonly action: HonestAction
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: object
  readonly isAnonymous?: boolean
  readonly status: number
}

/**
 * A client within every limit: 20 requests per second, a mail to its own mailbox every 2 s whose event it awaits on a
 * socket and acknowledges, and a payment every 5 s.
 */
export class HonestClient {
  readonly #options: HonestClientOptions
  readonly #http: HttpAgent
  readonly #payer: Agent
  readonly #probes: ReadonlyArray<Probe>
  /** Resolves the wait for the event of a mail, by the mail's subject. */
  readonly #awaited = new Map<string, () => void>()
  readonly #over = new AbortController()
  readonly #work: Array<Promise<unknown>> = []
  #statistics = new HonestStatistics()
  #socket: WebSocket | undefined

  constructor(options: HonestClientOptions) {
    this.#options = options
    this.#http = new HttpAgent({ keepAlive: true, localAddress: options.localAddress })
    this.#payer = new Agent(options, options.privateKey)
    this.#payer.token = options.token
    this.#probes = probesOf(options.mailboxId)
  }

  /** Begins, and resolves once the socket is open. */
  async start(): Promise<void> {
    await this.#connect()
    this.#work.push(this.#repeat(REQUEST_EVERY_MILLIS, (dueAt, turn) => this.#ask(dueAt, turn)))
    this.#work.push(this.#repeat(MAIL_EVERY_MILLIS, (dueAt) => this.#mail(dueAt)))
    this.#work.push(this.#repeat(PAYMENT_EVERY_MILLIS, (dueAt) => this.#pay(dueAt)))
  }

  /** Discards the measurements so far. */
  reset(): void {
    this.#statistics = new HonestStatistics()
  }

  report(): HonestReport {
    return this.#statistics.report()
  }

  /** Starts nothing more, and resolves once everything under way has ended. */
  async finish(): Promise<void> {
    this.#over.abort()
    await Promise.all(this.#work)
    this.#socket?.close()
    this.#http.destroy()
  }

  /** Starts `act` at fixed intervals, without waiting for the previous call. */
  async #repeat(everyMillis: number, act: (dueAt: number, turn: number) => Promise<void>): Promise<void> {
    const startedAt = performance.now()
    const acting = new Set<Promise<void>>()
    for (let turn = 0; !this.#over.signal.aborted; turn++) {
      const dueAt = startedAt + turn * everyMillis
      const wait = dueAt - performance.now()
      if (wait > 0) await sleep(wait)
      const acted: Promise<void> = act(dueAt, turn).finally(() => acting.delete(acted))
      acting.add(acted)
    }
    await Promise.all(acting)
  }

  async #measure(action: HonestAction, dueAt: number, act: () => Promise<void>): Promise<void> {
    const statistics = this.#statistics
    try {
      await act()
      statistics.succeed(action, performance.now() - dueAt)
    } catch (error) {
      statistics.fail(action, error instanceof Error ? error.message : String(error))
    }
  }

  #ask(dueAt: number, turn: number): Promise<void> {
    const probe = this.#probes[turn % this.#probes.length]!
    return this.#measure(probe.action, dueAt, async () => {
      const answer = await this.#request(probe)
      if (answer !== probe.status) throw new Error(`${probe.method} ${probe.path} answered ${answer}`)
    })
  }

  async #request({ body, isAnonymous = false, method, path }: Probe): Promise<number> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const sent = request(this.#options.baseUrl + path, {
      agent: this.#http,
      method,
      headers: {
        ...(text === undefined ? {} : { "content-type": "application/json" }),
        ...(isAnonymous ? {} : { authorization: `Bearer ${this.#options.token}` })
      },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MILLIS)
    })
    sent.end(text)
    const [response] = (await once(sent, "response")) as [IncomingMessage]
    response.resume()
    await once(response, "end")
    return response.statusCode ?? 0
  }

  #pay(dueAt: number): Promise<void> {
    return this.#measure("pay", dueAt, async () => {
      const body = { mailboxId: this.#options.mailboxId, displayName: randomUUID() }
      const { status } = await this.#payer.pay({ path: "/api/v1/email/mailboxes/update", body })
      if (status !== 200) throw new Error(`a paid update answered ${status}`)
    })
  }

  async #mail(dueAt: number): Promise<void> {
    const subject = `honest ${randomUUID()}`
    const arrived = new Promise<void>((resolve) => this.#awaited.set(subject, resolve))
    await this.#measure("mail", dueAt, () => this.#deliver(subject))
    await this.#measure("event", dueAt, async () => {
      const wait = new AbortController()
      const late = sleep(EVENT_TIMEOUT_MILLIS, "late", { signal: wait.signal }).catch(() => "over")
      const first = await Promise.race([arrived, late])
      wait.abort()
      if (first === "late") throw new Error(`no event within ${EVENT_TIMEOUT_MILLIS / 1_000} s`)
    })
    this.#awaited.delete(subject)
  }

  async #deliver(subject: string): Promise<void> {
    const { localAddress, mailboxAddress, smtpHost, smtpPort } = this.#options
    const transport = createTransport({
      host: smtpHost,
      port: smtpPort,
      localAddress,
      tls: { rejectUnauthorized: false },
      connectionTimeout: REQUEST_TIMEOUT_MILLIS,
      greetingTimeout: REQUEST_TIMEOUT_MILLIS,
      socketTimeout: REQUEST_TIMEOUT_MILLIS
    })
    await transport.sendMail({ from: "honest@elsewhere.example", to: mailboxAddress, subject, text: subject })
  }

  async #connect(): Promise<void> {
    const { baseUrl, localAddress, token } = this.#options
    const response = await fetch(`${baseUrl}/api/v1/events/realtime-token`, {
      headers: { authorization: `Bearer ${token}` }
    })
    const { data } = (await response.json()) as {
      readonly data: { readonly realtime: { readonly token: string; readonly websocketUrl: string } }
    }
    const socket = new WebSocket(data.realtime.websocketUrl, { localAddress })
    this.#socket = socket
    socket.on("error", () => undefined)
    socket.on("message", (bytes: Buffer) => this.#receive(socket, bytes))
    await once(socket, "open")
    socket.once("close", (code) => void this.#reconnect(code))
    socket.send(JSON.stringify({ type: "session.authenticate", token: data.realtime.token }))
  }

  async #reconnect(code: number): Promise<void> {
    if (this.#over.signal.aborted) return
    this.#statistics.fail("event", `the socket closed with ${code}`)
    await sleep(RECONNECT_MILLIS)
    await this.#connect().catch(() => this.#reconnect(code))
  }

  #receive(socket: WebSocket, bytes: Buffer): void {
    const message = JSON.parse(bytes.toString("utf8")) as {
      readonly type: string
      readonly deliveryId?: string
      readonly event?: { readonly eventId: string; readonly payload: { readonly subject?: string } }
    }
    if (message.type !== "event.delivery" || message.event === undefined) return
    socket.send(JSON.stringify({ type: "event.ack", eventId: message.event.eventId, deliveryId: message.deliveryId }))
    this.#awaited.get(message.event.payload.subject ?? "")?.()
  }
}

const probesOf = (mailboxId: string): ReadonlyArray<Probe> => [
  {
    action: "challenge",
    method: "POST",
    path: "/api/v1/email/mailboxes",
    body: { localPart: "an-honest-client" },
    isAnonymous: true,
    status: 402
  },
  { action: "list", method: "GET", path: `/api/v1/email/messages/query?mailboxId=${mailboxId}&limit=5`, status: 200 },
  { action: "list", method: "POST", path: "/api/v1/events/list", body: { limit: 5 }, status: 200 },
  {
    action: "quote",
    method: "POST",
    path: "/api/v1/email/messages/send",
    body: { mailboxId, to: ["friend@elsewhere.example"], subject: "Hello", text: "Hello" },
    status: 402
  }
]
