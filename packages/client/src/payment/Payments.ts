import { AgentOsError, messageOf, type MoneyMoved } from "../AgentOsError.ts"
import type { Answer } from "../http/Answer.ts"
import type { Http, Request } from "../http/Http.ts"
import type { OperationId } from "../http/OperationTypes.ts"
import { dataIn, dataOf, errorOf, isSuccess, moneyMovedBy, wireErrorIn } from "../http/WireError.ts"
import type { PaymentOption, Settings } from "../Options.ts"
import type { Tokens } from "../session/Tokens.ts"
import type { WalletAccount } from "./Account.ts"
import { decimalOf } from "./Amount.ts"
import {
  type Challenge,
  type ChallengeOption,
  checkFresh,
  expiryOf,
  readChallenge,
  supportedOptions
} from "./Challenge.ts"
import { Funds, type NetworkFunds } from "./Funds.ts"
import { type Answered, reportedState, sendPayment, sendUntilAnswered, type Unanswered } from "./Sending.ts"
import type { Acceptance } from "./KnownTokens.ts"
import { isExpired, isOpen, type JournalEntry, type JournalState, newPaymentId } from "./Journal.ts"
import { SMART_ACCOUNT } from "./Permit.ts"
import { readPaymentResponse } from "./PaymentResponse.ts"
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
  /** The rest of the limit per day. */
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

/** The states that end a payment with a charge, so that a later answer is news. */
const CHARGED: ReadonlyArray<string> = ["settled", "refund_due", "refunded"]

const optionOf = (option: ChallengeOption): PaymentOption => {
  const { allowanceBy, asset, decimals, extra, maxTimeoutSeconds, network, payTo, price } = option
  const { name } = extra
  return {
    price: decimalOf(price),
    network,
    asset,
    assetName: typeof name === "string" ? name : null,
    decimals,
    allowanceBy,
    payTo,
    maxTimeoutSeconds,
    expiresAt: expiryOf(option) ?? null
  }
}

/** Returns the challenge of a 402 answer; undefined if the answer is another one. */
const challengeOf = ({ headers, status }: Answer, acceptance: Acceptance): Challenge | undefined => {
  const header = status === 402 ? headers.get("payment-required") : null
  return header === null ? undefined : readChallenge(header, acceptance)
}

/**
 * Throws if a request without a payment got the answer to one with a payment: then `fetch` has paid or tried to, because it
 * pays by itself, for example that of @x402/fetch.
 */
const checkUnpaid = (quote: Answer): void => {
  const hasPaid = isSuccess(quote) && quote.headers.has("payment-response")
  const issues = wireErrorIn(quote)?.issues ?? []
  if (!hasPaid && !issues.some(({ path }) => path === "Idempotency-Key")) return
  const outcome = hasPaid
    ? "It has paid for this call, outside your limits; the result is in answer"
    : "Nothing was charged"
  throw new AgentOsError({
    code: "INVALID_OPTION",
    message: `fetch pays by itself, so this client cannot. Pass the fetch of the platform, without a wrapper, to AgentOs.connect. ${outcome}.`,
    status: quote.status,
    moneyMoved: hasPaid ? "yes" : "no",
    answer: quote
  })
}

const answeredState = ({ answer, paymentState, status }: Answered): Extract<JournalState, { tag: "answered" }> => {
  const { receipt, transaction } = readPaymentResponse(answer.headers.get("payment-response"))
  return {
    tag: "answered",
    status: answer.status,
    requestId: answer.headers.get("x-request-id"),
    transaction: status?.transaction ?? transaction,
    receipt,
    paymentState
  }
}

const isOver = ({ state }: JournalEntry): boolean =>
  state.tag === "given-up" || (state.tag === "answered" && state.paymentState === "none")

const shown = (entry: JournalEntry): Payment => {
  const { amount, body: _body, idempotencyKey: _key, paymentSignature: _secret, ...others } = entry
  return { ...others, amount: decimalOf(BigInt(amount)), isOpen: isOpen(entry) }
}

export class Payments {
  readonly #http: Http
  readonly #settings: Settings
  readonly #tokens: Tokens
  readonly #spending: Spending
  readonly #funds: Funds
  /** The payments whose outcome is unknown, by id. */
  readonly #open = new Map<string, JournalEntry>()
  /** The payments with permits, one after the other: each takes the nonce after that of the last. */
  #permits: Promise<unknown> = Promise.resolve()
  /** The ids of payments that are being sent. */
  readonly #sending = new Set<string>()

  private constructor(settings: Settings, http: Http, tokens: Tokens) {
    this.#settings = settings
    this.#http = http
    this.#tokens = tokens
    this.#spending = new Spending(settings)
    this.#funds = new Funds(settings, http)
  }

  /** @internal Reads the journal. */
  static async load(settings: Settings, http: Http, tokens: Tokens): Promise<Payments> {
    const payments = new Payments(settings, http, tokens)
    const entries = await settings.journal?.load().catch((cause: unknown) => Promise.reject(journalFailed(cause)))
    const now = settings.clock.now()
    for (const entry of entries ?? []) {
      // Without a wallet, no call resumes them.
      if (settings.wallet === undefined || !payments.#isOwn(entry)) continue
      if (!(await payments.#giveUp(entry, now))) payments.#remember(entry)
    }
    return payments
  }

  /** Returns the payments whose outcome is unknown, oldest first. */
  open(): ReadonlyArray<Payment> {
    return [...this.#open.values()].map(shown)
  }

  /** Returns the possible cost of the last 24 hours, and the limits. */
  spent(): Spent {
    const { perCall, perDay } = this.#settings.limits
    const lastDay = this.#spending.lastDay()
    const left = perDay === null ? null : perDay > lastDay ? perDay - lastDay : 0n
    const text = (amount: bigint | null) => (amount === null ? null : decimalOf(amount))
    return { lastDay: decimalOf(lastDay), perCall: text(perCall), perDay: text(perDay), left: text(left) }
  }

  /**
   * Returns the funds of the wallet on each network of the server, in its order. A wallet that sends transactions gives a
   * missing allowance by the one in `approval`. Throws WALLET_REQUIRED.
   */
  async funds({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<ReadonlyArray<NetworkFunds>> {
    const { wallet } = this.#settings
    if (wallet === undefined) throw walletRequired("payments.funds reads the balances of a wallet")
    return this.#funds.read(wallet.address ?? (await wallet.open()).address, signal)
  }

  /**
   * Sends an open payment again with the same bytes, and returns the data of its answer. With `find` of the journal, also
   * sends a finished one again for its result. Throws PAYMENT_VOID if it bought nothing.
   */
  async resume(paymentId: string, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<Data> {
    if (!this.#sending.has(paymentId)) {
      this.#sending.add(paymentId)
      try {
        const entry = this.#open.get(paymentId) ?? (await this.#find(paymentId))
        if (entry !== undefined) return await this.#resume(entry, signal)
      } finally {
        this.#sending.delete(paymentId)
      }
    }
    throw new AgentOsError({
      code: "INVALID_OPTION",
      message: `No open payment has the id ${paymentId}, or it is being sent.`
    })
  }

  async #find(id: string): Promise<JournalEntry | undefined> {
    const { journal } = this.#settings
    const entry = await journal?.find?.(id).catch((cause: unknown) => Promise.reject(journalFailed(cause)))
    return entry !== undefined && this.#isOwn(entry) ? entry : undefined
  }

  async #resume(entry: JournalEntry, signal: AbortSignal | undefined): Promise<Data> {
    if (isOver(entry) || (await this.#giveUp(entry, this.#settings.clock.now())))
      throw new AgentOsError({
        code: "PAYMENT_VOID",
        message: "Nothing was charged, and this payment will not be sent again. Make the call again for a new one.",
        details: { paymentId: entry.id }
      })
    return isOpen(entry) ? this.#send(entry, signal) : this.#fetchAgain(entry, signal)
  }

  /** Sends a finished payment once more. The journal changes only if the answer has news, for example of a refund. */
  async #fetchAgain(entry: JournalEntry, signal: AbortSignal | undefined): Promise<Data> {
    const token = entry.withToken ? await this.#tokens.require() : undefined
    const answer = await sendPayment(entry, this.#http, token, signal)
    if ("lost" in answer) throw answer.lost
    const state = answeredState({ answer, paymentState: reportedState(answer, true) ?? "unknown" })
    const known = entry.state.tag === "answered" && !CHARGED.includes(state.paymentState) ? entry.state : state
    if (known === state) await this.#save({ ...entry, state })
    const data = dataIn(answer)
    if (data === undefined) throw errorOf(answer, moneyMovedBy(known.paymentState))
    await this.#tokens.keep(data)
    return data
  }

  /** Ends a payment that was never sent and has expired, because it could only be refused. Returns whether it did. */
  async #giveUp(entry: JournalEntry, now: number): Promise<boolean> {
    if (entry.state.tag !== "prepared" || !isExpired(entry, now)) return false
    await this.#save({ ...entry, state: { tag: "given-up" } })
    return true
  }

  /** @internal Returns the options of an answer to a request without a payment. Throws if it is no challenge. */
  optionsOf(answer: Answer): ReadonlyArray<PaymentOption> {
    checkUnpaid(answer)
    const challenge = challengeOf(answer, this.#settings)
    if (challenge !== undefined) return challenge.options.map(optionOf)
    if (dataIn(answer) === undefined) throw errorOf(answer)
    throw new AgentOsError({
      code: "UNEXPECTED_ANSWER",
      message: "The server executed the call without a payment.",
      status: answer.status,
      requestId: answer.headers.get("x-request-id")
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
    checkUnpaid(quote)
    if (isSuccess(quote)) return dataOf(quote)
    const challenge = challengeOf(quote, this.#settings)
    if (challenge === undefined) throw errorOf(quote)
    const { wallet } = this.#settings
    if (wallet === undefined) throw walletRequired(`${operationId} costs money`)
    const option = await this.#funds.choose(supportedOptions(challenge, this.#settings), wallet.address, signal)
    const { clock } = this.#settings
    checkFresh(option, clock.now())
    this.#spending.check(option.price)
    await this.#approve(operationId, option)
    const account = await wallet.open()
    const paying = () => this.#payBy(option, challenge, account, call, signal)
    if (option.allowanceBy !== "signature") return paying()
    const paid = this.#permits.then(paying)
    this.#permits = paid.catch(() => undefined)
    try {
      return await paid
    } catch (error) {
      if (error !== SMART_ACCOUNT) throw error
      this.#funds.withoutPermits()
      return this.pay(call, signal)
    }
  }

  /** Pays by one option, which was approved: signature, journal, request, in this order. */
  async #payBy(
    offered: ChallengeOption,
    challenge: Challenge,
    account: WalletAccount,
    call: PaidCall,
    signal: AbortSignal | undefined
  ): Promise<Data> {
    const { clock } = this.#settings
    const option = await this.#funds.withPermit(offered, account.address, signal)
    const createdAt = clock.now()
    const id = newPaymentId(createdAt)
    this.#spending.reserve(id, option.price)
    this.#sending.add(id)
    try {
      checkFresh(option, clock.now())
      signal?.throwIfAborted()
      const entry = await this.#sign({ id, createdAt }, call, account, challenge, option)
      signal?.throwIfAborted()
      await this.#save(entry)
      return await this.#send(entry, signal)
    } finally {
      this.#spending.release(id)
      this.#sending.delete(id)
    }
  }

  async #approve(operationId: OperationId, option: ChallengeOption): Promise<void> {
    const { onPayment } = this.#settings
    if (onPayment === undefined) return
    const notApproved = (message: string, cause?: unknown) =>
      new AgentOsError({ code: "PAYMENT_NOT_APPROVED", message: `${message}. Nothing was signed.`, cause })
    const answer = async () => onPayment({ operationId, ...optionOf(option) })
    const isApproved = await answer().catch((error: unknown) => {
      throw error instanceof AgentOsError ? error : notApproved(`onPayment failed: ${messageOf(error)}`, error)
    })
    if (!isApproved) throw notApproved(`onPayment did not approve ${decimalOf(option.price)} USDT for ${operationId}`)
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
    const { asset, network, payTo, price } = option
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
      amount: String(price),
      asset,
      network,
      payTo,
      validBefore,
      paymentSignature: header,
      state: { tag: "prepared" }
    }
  }

  async #send(entry: JournalEntry, signal: AbortSignal | undefined): Promise<Data> {
    this.#sending.add(entry.id)
    try {
      const token = entry.withToken ? await this.#tokens.require() : undefined
      const { clock } = this.#settings
      let current = entry
      const save = (state: JournalState) => this.#save((current = { ...current, state }))
      const outcome = await sendUntilAnswered(entry, {
        http: this.#http,
        clock,
        token,
        renewToken: entry.withToken ? () => this.#tokens.renew().catch(() => undefined) : undefined,
        save,
        onRetry: (attempt, delayMillis) =>
          this.#settings.onRetry({ ...retryOf(attempt), delayMillis, paymentId: entry.id }),
        signal
      })
      if ("lost" in outcome) {
        const { lost } = outcome
        // Once sent, the signature is out, whatever the server answered.
        if (current.state.tag !== "prepared")
          throw outcomeUnknown(entry, signal?.aborted === true ? "Aborted" : messageOf(lost), lost)
        await save({ tag: "given-up" })
        throw lost
      }
      const { answer } = outcome
      const data = dataIn(answer)
      const moneyMoved = moneyMovedBy(outcome.paymentState)
      const error = errorOf(answer, moneyMoved)
      // The token comes first: if it is lost in between, the journal still says that there is an answer to fetch.
      if (data !== undefined) await this.#tokens.keep(data, moneyMoved)
      await save(answeredState(outcome))
      if (data !== undefined) return data
      this.#funds.forget()
      throw moneyMoved === "unknown" ? outcomeUnknown(entry, messageOf(error), error) : error
    } finally {
      this.#sending.delete(entry.id)
    }
  }

  async #save(entry: JournalEntry): Promise<void> {
    const { state } = entry
    const moneyMoved = state.tag === "answered" ? moneyMovedBy(state.paymentState) : "unknown"
    try {
      await this.#settings.journal?.save(entry)
    } catch (cause) {
      throw journalFailed(cause, state.tag === "prepared" ? "no" : moneyMoved)
    }
    this.#remember(entry)
  }

  #remember(entry: JournalEntry): void {
    this.#spending.record(entry)
    if (isOpen(entry)) this.#open.set(entry.id, entry)
    else this.#open.delete(entry.id)
  }

  /** Whether a payment is for this server and of this wallet, as far as its address is known. */
  #isOwn({ baseUrl, payer }: JournalEntry): boolean {
    const { wallet } = this.#settings
    return baseUrl === this.#settings.baseUrl && payer === (wallet?.address ?? payer)
  }
}

/** Returns the reason of a retry as an error. */
const retryOf = (outcome: Answered | Unanswered) => {
  if ("answer" in outcome) return { error: errorOf(outcome.answer, moneyMovedBy(outcome.paymentState)) }
  const { lost } = outcome
  if (lost instanceof AgentOsError) return { error: lost }
  return {
    error: new AgentOsError({ code: "UNREACHABLE", message: messageOf(lost), isRetryable: true, cause: lost })
  }
}

const walletRequired = (why: string): AgentOsError =>
  new AgentOsError({ code: "WALLET_REQUIRED", message: `${why}. Pass a wallet to AgentOs.connect.` })

const outcomeUnknown = ({ id }: JournalEntry, why: string, cause: unknown): AgentOsError =>
  new AgentOsError({
    code: "PAYMENT_OUTCOME_UNKNOWN",
    message: `${why}. The payment may have been charged. Make the same call again to resume it: the same payment is sent, and nothing is signed.`,
    details: { paymentId: id },
    moneyMoved: "unknown",
    isRetryable: true,
    cause
  })

const journalFailed = (cause: unknown, moneyMoved: MoneyMoved = "no"): AgentOsError =>
  new AgentOsError({
    code: "JOURNAL_FAILED",
    message: `The journal failed: ${messageOf(cause)}. ${moneyMoved === "no" ? "Nothing was sent." : "Make the same call again to resume the payment."}`,
    moneyMoved,
    cause
  })
