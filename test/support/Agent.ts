import { x402Client } from "@x402/axios"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import type { PaymentPayload, PaymentRequired } from "@x402/core/types"
import { randomUUID } from "node:crypto"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { BoundScheme, type SandboxDescription } from "@agentos/sandbox"

/** An answer as it came over the wire. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: ReplyBody
}

/** Either envelope: what a test looks at is there, or the test fails. */
export interface ReplyBody {
  readonly data: Record<string, never>
  readonly requestId: string
  readonly error: {
    readonly code: string
    readonly message: string
    readonly requestId: string
    readonly retryable: boolean
    readonly paymentState?: string
    readonly issues?: ReadonlyArray<{ readonly path: string; readonly message: string }>
    readonly next?: { readonly method: string; readonly path: string }
    readonly onboarding?: Record<string, unknown>
  }
}

export type Request = {
  readonly method?: string
  readonly path: string
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** An agent with a wallet: it signs what it is told to, and sends what a test wants sent. */
export class Agent {
  readonly account: PrivateKeyAccount
  token: string | undefined
  private readonly server: Pick<SandboxDescription, "baseUrl">
  private readonly wallet: x402Client

  constructor(server: Pick<SandboxDescription, "baseUrl">, privateKey: `0x${string}`) {
    this.server = server
    this.account = privateKeyToAccount(privateKey)
    this.wallet = new x402Client().register("eip155:*", new BoundScheme(this.account))
  }

  async send({ body, headers = {}, method = body === undefined ? "GET" : "POST", path }: Request): Promise<Reply> {
    const response = await fetch(this.server.baseUrl + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
        ...headers
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.includes("json") ?? false
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : {}) as ReplyBody
    }
  }

  /** The challenge for a request; fails when the answer is anything else. */
  async challenge(request: Request): Promise<PaymentRequired> {
    const reply = await this.send({ method: "POST", ...request })
    const header = reply.headers.get("payment-required")
    if (reply.status !== 402 || header === null) throw new Error(`no challenge but ${reply.status}: ${reply.text}`)
    return decodePaymentRequiredHeader(header)
  }

  sign(challenge: PaymentRequired): Promise<PaymentPayload> {
    return this.wallet.createPaymentPayload(challenge)
  }

  /** The header of a signed payment of the challenge for a request. */
  async payment(request: Request): Promise<string> {
    return encodePaymentSignatureHeader(await this.sign(await this.challenge(request)))
  }

  /** Pays for a request and sends it. */
  async pay(request: Request, idempotencyKey: string = randomUUID()): Promise<Reply> {
    const signature = await this.payment(request)
    return this.replay(request, signature, idempotencyKey)
  }

  replay(request: Request, signature: string, idempotencyKey: string): Promise<Reply> {
    const headers = { ...request.headers, "payment-signature": signature, "idempotency-key": idempotencyKey }
    return this.send({ method: "POST", ...request, headers })
  }

  /** Creates a mailbox and keeps the token that comes with it. */
  async createMailbox(localPart: string): Promise<MailboxFields> {
    const reply = await this.pay({ path: "/api/v1/email/mailboxes", body: { localPart } })
    if (reply.status !== 201) throw new Error(`no mailbox but ${reply.status}: ${reply.text}`)
    const data = reply.body.data as unknown as {
      readonly mailbox: MailboxFields
      readonly authentication: { readonly accessToken: string }
    }
    this.token = data.authentication.accessToken
    return data.mailbox
  }
}

export interface MailboxFields {
  readonly mailboxId: string
  readonly address: string
  readonly localPart: string
  readonly active: boolean
  readonly displayName: string | null
}

let names = 0
/** A local part that no other test has. */
export const freshName = (): string => `agent-${process.pid}-${++names}-${Math.random().toString(36).slice(2, 8)}`

const PENDING_TRIES = 60
const PENDING_PAUSE_MILLIS = 500

/** Repeats a request until its answer is no longer that somebody else is at it. */
export const untilNotPending = async (attempt: () => Promise<Reply>): Promise<Reply> => {
  for (let tries = 0; ; tries++) {
    const reply = await attempt()
    if (reply.body.error?.code !== "PAYMENT_PENDING" || tries > PENDING_TRIES) return reply
    await new Promise((resolve) => setTimeout(resolve, PENDING_PAUSE_MILLIS))
  }
}
