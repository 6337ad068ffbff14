import { x402Client } from "@x402/axios"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import type { PaymentPayload, PaymentRequired } from "@x402/core/types"
import type { ClientEvmSigner } from "@x402/evm"
import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x"
import { wrapFetchWithPayment, x402Client as FetchClient } from "@x402/fetch"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { BoundScheme, type SandboxDescription } from "@agentos/sandbox"

const UNREADY_RETRIES = 3

/**
 * Repeats a request while the server says when to repeat it: the database may not answer in time beside other tests, and
 * a test's earlier requests may have used up the rate limit.
 */
const whenReady = async <R extends { readonly status: number; readonly headers: Headers }>(
  send: () => Promise<R>
): Promise<R> => {
  for (let retry = 0; ; retry++) {
    const reply = await send()
    const retryAfterSeconds = Number(reply.headers.get("retry-after"))
    const isReady = (reply.status !== 503 && reply.status !== 429) || retryAfterSeconds === 0
    if (isReady || retry === UNREADY_RETRIES) return reply
    await sleep(retryAfterSeconds * 1_000)
  }
}

/** A response as received. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: ReplyBody
}

/** Either envelope, without the `undefined` of absent members: a test that reads an absent member fails. */
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

/** Longer than any answer takes, also of a server that is paused meanwhile. Without it, a request waits for 300 s. */
const ANSWER_MILLIS_MAX = 150_000

/** The part of a purchase's result that says how to authenticate. */
interface Authentication {
  readonly accessToken?: string
}

/** The tokens that wallets of this process have, by server and wallet. Only the first purchase returns it. */
const tokens = new Map<string, string>()

/** An API client with a wallet. It signs and sends the arguments of a test unchanged. */
export class Agent {
  readonly account: PrivateKeyAccount
  /** The account itself, or the smart account that it owns. */
  readonly payer: ClientEvmSigner
  token: string | undefined
  private readonly server: Pick<SandboxDescription, "baseUrl">
  private readonly wallet: x402Client
  private readonly fetch: typeof fetch

  constructor(
    server: Pick<SandboxDescription, "baseUrl">,
    privateKey: `0x${string}`,
    payerOf: (owner: PrivateKeyAccount) => ClientEvmSigner = (owner) => owner,
    fetcher: typeof fetch = fetch
  ) {
    this.server = server
    this.fetch = fetcher
    this.account = privateKeyToAccount(privateKey)
    this.payer = payerOf(this.account)
    this.wallet = new x402Client().register("eip155:*", new BoundScheme(this.payer))
  }

  async send({ body, headers = {}, method = body === undefined ? "GET" : "POST", path }: Request): Promise<Reply> {
    const response = await this.fetch(this.server.baseUrl + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
        ...headers
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MILLIS_MAX)
    })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.includes("json") ?? false
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson && text !== "" ? JSON.parse(text) : {}) as ReplyBody
    }
  }

  /** Returns the challenge for a request; fails on any other response. */
  async challenge(request: Request): Promise<PaymentRequired> {
    const reply = await whenReady(() => this.send({ method: "POST", ...request }))
    const header = reply.headers.get("payment-required")
    if (reply.status !== 402 || header === null)
      throw new Error(`expected a challenge, got ${reply.status}: ${reply.text}`)
    return decodePaymentRequiredHeader(header)
  }

  sign(challenge: PaymentRequired): Promise<PaymentPayload> {
    return this.wallet.createPaymentPayload(challenge)
  }

  /** Returns the payment header for a request, signed for a new challenge. */
  async payment(request: Request): Promise<string> {
    return encodePaymentSignatureHeader(await this.sign(await this.challenge(request)))
  }

  /** Signs a payment for a request and sends both. */
  async pay(request: Request, idempotencyKey: string = randomUUID()): Promise<Reply> {
    const signature = await this.payment(request)
    return this.replay(request, signature, idempotencyKey)
  }

  replay(request: Request, signature: string, idempotencyKey: string): Promise<Reply> {
    const headers = { ...request.headers, "payment-signature": signature, "idempotency-key": idempotencyKey }
    return this.send({ method: "POST", ...request, headers })
  }

  /** Uses the wallet's token: the one that a purchase returned, to this agent or to an earlier one with this wallet. */
  async authenticate({ accessToken }: Authentication = {}): Promise<string> {
    const key = `${this.server.baseUrl} ${this.payer.address}`
    this.token = accessToken ?? tokens.get(key) ?? (await this.signIn())
    tokens.set(key, this.token)
    return this.token
  }

  /** Returns the wallet's token for a signature: the current one, or a new one from the path that revokes the others. */
  async signIn(path = "/api/v1/auth/token"): Promise<string> {
    const client = new FetchClient().registerExtension(createSIWxClientExtension({ signers: [this.account] }))
    const url = this.server.baseUrl + path
    const response = await whenReady(() => wrapFetchWithPayment(this.fetch, client)(url, { method: "POST" }))
    if (!response.ok) throw new Error(`expected a token, got ${response.status}: ${await response.text()}`)
    const { data } = (await response.json()) as { readonly data: { readonly authentication: { accessToken: string } } }
    return data.authentication.accessToken
  }

  /** Creates a mailbox and uses the wallet's access token from now on. */
  async createMailbox(localPart: string): Promise<MailboxFields> {
    const reply = await this.pay({ path: "/api/v1/email/mailboxes", body: { localPart } })
    if (reply.status !== 201) throw new Error(`expected a mailbox, got ${reply.status}: ${reply.text}`)
    const data = reply.body.data as unknown as {
      readonly mailbox: MailboxFields
      readonly authentication: Authentication
    }
    await this.authenticate(data.authentication)
    return data.mailbox
  }
}

export interface MailboxFields {
  readonly mailboxId: string
  readonly address: string
  readonly localPart: string
  readonly active: boolean
  readonly displayName: string | null
  readonly senderPolicy: {
    readonly mode: string
    readonly allow: ReadonlyArray<string>
    readonly block: ReadonlyArray<string>
  }
}

let names = 0
/** Returns a local part that no other test uses. */
export const freshName = (): string => `agent-${process.pid}-${++names}-${Math.random().toString(36).slice(2, 8)}`

const PENDING_TRIES = 60
const PENDING_PAUSE_MILLIS = 500

/** Repeats a request while the response is 409 PAYMENT_PENDING. */
export const untilNotPending = async (attempt: () => Promise<Reply>): Promise<Reply> => {
  for (let tries = 0; ; tries++) {
    const reply = await attempt()
    if (reply.body.error?.code !== "PAYMENT_PENDING" || tries > PENDING_TRIES) return reply
    await new Promise((resolve) => setTimeout(resolve, PENDING_PAUSE_MILLIS))
  }
}
