import { AgentOsError, type MoneyMoved } from "../AgentOsError.ts"
import type { Answer, Http, Request } from "../http/Http.ts"
import type { OperationId } from "../http/OperationTypes.ts"
import { dataIn, dataOf, errorOf, isSuccess, moneyMovedBy } from "../http/WireError.ts"
import type { Settings, WalletAccount } from "../Options.ts"
import type { Tokens } from "../session/Tokens.ts"
import { decimalOf } from "./Amount.ts"
import { type Challenge, type ChallengeOption, checkFresh, chooseOption, readChallenge } from "./Challenge.ts"
import { deliver } from "./Delivery.ts"
import { isExpired, isOpen, type JournalEntry, type JournalState, newPaymentId } from "./Journal.ts"
import { signPayment } from "./Signing.ts"
import { Spending } from "./Spending.ts"

type Data = Readonly<Record<string, unknown>>

/** A payment as it is shown, without the secrets that repeat it. */
export type Payment = Omit<JournalEntry, "body" | "paymentSignature" | "idempotencyKey" | "amount"> & {
  /** In USDT. */
  readonly amount: string
  readonly isOpen: boolean
}

/** Spending and limits in USDT; null without a limit. A payment with an unknown outcome counts. */
export interface Spent {
  readonly lastDay: string
  readonly perCall: string | null
  readonly perDay: string | null
  /** What the limit per day leaves. */
  readonly left: string | null
}

/** @internal A call that costs money. */
export interface PaidCall {
  readonly operationId: OperationId
  readonly request: Request
  readonly token: string | undefined
  /** The answer to the request without a payment. */
  readonly quote: Answer
}

const shown = (entry: JournalEntry): Payment => {
  const { amount, body: _body, idempotencyKey: _key, paymentSignature: _secret, ...others } = entry
  return { ...others, amount: decimalOf(BigInt(amount)), isOpen: isOpen(entry) }
}

export class Payments {
  readonly #http: Http
  readonly #settings: Settings
  readonly #tokens: Tokens
  readonly #spending: Spending
  /** The payments whose outcome is unknown, by id. */
  readonly #open = new Map<string, JournalEntry>()
  /** The ids of payments that are being sent. */
  readonly #sending = new Set<string>()

  private constructor(settings: Settings, http: Http, tokens: Tokens) {
    this.#settings = settings
    this.#http = http
    this.#tokens = tokens
    this.#spending = new Spending(settings)
  }

  /** @internal Reads the journal. */
  static async load(settings: Settings, http: Http, tokens: Tokens): Promise<Payments> {
    const payments = new Payments(settings, http, tokens)
    const entries = await settings.journal?.load().catch((cause: unknown) => Promise.reject(journalFailed(cause)))
    const now = settings.clock.now()
    for (const entry of entries ?? []) {
      if (!payments.#isOwn(entry)) continue
      // A payment that was never sent and has expired could only be refused.
      if (entry.state.tag === "prepared" && isExpired(entry, now))
        await payments.#save({ ...entry, state: { tag: "given-up" } })
      else payments.#remember(entry)
    }
    return payments
  }

  /** Returns the payments whose outcome is unknown, oldest first. */
  open(): ReadonlyArray<Payment> {
    return [...this.#open.values()].map(shown)
  }

  /** Returns what the last 24 hours may have cost, and the limits. */
  spent(): Spent {
    const { perCall, perDay } = this.#settings.limits
    const lastDay = this.#spending.lastDay()
    const left = perDay === null ? null : perDay > lastDay ? perDay - lastDay : 0n
    const text = (amount: bigint | null) => (amount === null ? null : decimalOf(amount))
    return { lastDay: decimalOf(lastDay), perCall: text(perCall), perDay: text(perDay), left: text(left) }
  }

  /** Sends an open payment again with the same bytes, and returns the data of its answer. */
  async resume(paymentId: string, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<Data> {
    const entry = this.#open.get(paymentId)
    if (entry !== undefined && !this.#sending.has(paymentId)) return this.#deliver(entry, signal)
    throw new AgentOsError({
      code: "INVALID_OPTION",
      message: `No open payment has the id ${paymentId}, or it is being sent.`,
      details: {}
    })
  }

  /** @internal Returns the open payment of the same request, which a crash or a lost answer left behind. */
  findOpen({ body, method, path }: Request): Payment | undefined {
    for (const entry of this.#open.values()) {
      const isSame = entry.method === method && entry.path === path && entry.body === (body ?? null)
      if (isSame && !this.#sending.has(entry.id)) return shown(entry)
    }
    return undefined
  }

  /** @internal Pays for a call: limits, approval, signature, journal, request, in this order. */
  async pay(call: PaidCall, signal: AbortSignal | undefined): Promise<Data> {
    const { operationId, quote } = call
    if (isSuccess(quote)) return dataOf(quote)
    const header = quote.status === 402 ? quote.headers.get("payment-required") : null
    if (header === null) throw errorOf(quote)
    const { wallet } = this.#settings
    if (wallet === undefined)
      throw new AgentOsError({
        code: "WALLET_REQUIRED",
        message: `${operationId} costs money. Pass a wallet to AgentOs.connect.`,
        details: {}
      })
    const challenge = readChallenge(header)
    const option = chooseOption(challenge, this.#settings)
    const { clock } = this.#settings
    checkFresh(option, clock.now())
    this.#spending.check(option.amount)
    await this.#approve(operationId, option)
    const createdAt = clock.now()
    const id = newPaymentId(createdAt)
    this.#spending.reserve(id, option.amount)
    this.#sending.add(id)
    try {
      checkFresh(option, clock.now())
      signal?.throwIfAborted()
      const entry = await this.#sign({ id, createdAt }, call, wallet, challenge, option)
      signal?.throwIfAborted()
      await this.#save(entry)
      return await this.#deliver(entry, signal)
    } finally {
      this.#spending.release(id)
      this.#sending.delete(id)
    }
  }

  async #approve(operationId: OperationId, { amount, asset, network, payTo }: ChallengeOption): Promise<void> {
    const { onPayment } = this.#settings
    if (onPayment === undefined) return
    if (await onPayment({ operationId, price: decimalOf(amount), network, asset, payTo })) return
    throw new AgentOsError({
      code: "PAYMENT_NOT_APPROVED",
      message: `onPayment did not approve ${decimalOf(amount)} USDT for ${operationId}. Nothing was signed.`,
      details: {}
    })
  }

  async #sign(
    { createdAt, id }: Pick<JournalEntry, "createdAt" | "id">,
    { operationId, request, token }: PaidCall,
    wallet: WalletAccount,
    challenge: Challenge,
    option: ChallengeOption
  ): Promise<JournalEntry> {
    const { baseUrl } = this.#settings
    const { header, validBefore } = await signPayment(wallet, challenge, option, baseUrl, createdAt)
    const { body = null, method, path } = request
    const { amount, asset, network, payTo } = option
    return {
      id,
      createdAt,
      baseUrl,
      operationId,
      method,
      path,
      body,
      // oxlint-disable-next-line no-restricted-properties -- keys are random on every platform
      idempotencyKey: crypto.randomUUID(),
      withToken: token !== undefined,
      payer: wallet.address,
      amount: String(amount),
      asset,
      network,
      payTo,
      validBefore,
      paymentSignature: header,
      state: { tag: "prepared" }
    }
  }

  async #deliver(entry: JournalEntry, signal: AbortSignal | undefined): Promise<Data> {
    this.#sending.add(entry.id)
    try {
      const token = entry.withToken ? await this.#tokens.require() : undefined
      const { clock } = this.#settings
      let current = entry
      const save = (state: JournalState) => this.#save((current = { ...current, state }))
      const delivered = await deliver(entry, {
        http: this.#http,
        clock,
        token,
        renewToken: entry.withToken ? () => this.#tokens.renew().catch(() => undefined) : undefined,
        save,
        signal
      })
      if ("lost" in delivered) {
        const { lost } = delivered
        // Once sent, the signature is out, whatever the server answered.
        if (current.state.tag !== "prepared")
          throw outcomeUnknown(entry, signal?.aborted === true ? "Aborted." : messageOf(lost), lost)
        await save({ tag: "given-up" })
        throw lost
      }
      const { answer, paymentState } = delivered
      const data = dataIn(answer)
      const moneyMoved = moneyMovedBy(paymentState)
      const error = errorOf(answer, moneyMoved)
      // The token comes first: if it is lost in between, the journal still says that there is an answer to fetch.
      if (data !== undefined) await this.#tokens.keep(data)
      await save({
        tag: "answered",
        status: answer.status,
        requestId: answer.headers.get("x-request-id"),
        moneyMoved,
        receipt: answer.headers.get("payment-response")
      })
      if (data !== undefined) return data
      throw moneyMoved === "unknown" ? outcomeUnknown(entry, error.message, error) : error
    } finally {
      this.#sending.delete(entry.id)
    }
  }

  async #save(entry: JournalEntry): Promise<void> {
    const { moneyMoved = "unknown" } = entry.state.tag === "answered" ? entry.state : {}
    await this.#settings.journal
      ?.save(entry)
      .catch((cause: unknown) =>
        Promise.reject(journalFailed(cause, entry.state.tag === "prepared" ? "no" : moneyMoved))
      )
    this.#remember(entry)
  }

  #remember(entry: JournalEntry): void {
    this.#spending.record(entry)
    if (isOpen(entry)) this.#open.set(entry.id, entry)
    else this.#open.delete(entry.id)
  }

  #isOwn({ baseUrl, payer }: JournalEntry): boolean {
    return baseUrl === this.#settings.baseUrl && payer === this.#settings.wallet?.address
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const outcomeUnknown = ({ id }: JournalEntry, why: string, cause: unknown): AgentOsError =>
  new AgentOsError({
    code: "PAYMENT_OUTCOME_UNKNOWN",
    message: `${why} The payment may have been charged. Make the same call again to resume it: the same payment is sent, and nothing is signed.`,
    details: { paymentId: id },
    moneyMoved: "unknown",
    isRetryable: true,
    cause
  })

const journalFailed = (cause: unknown, moneyMoved: MoneyMoved = "no"): AgentOsError =>
  new AgentOsError({
    code: "JOURNAL_FAILED",
    message: `The journal failed: ${messageOf(cause)}. ${moneyMoved === "no" ? "Nothing was sent." : "Make the same call again to resume the payment."}`,
    details: {},
    moneyMoved,
    cause
  })
