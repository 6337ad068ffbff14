import { AgentOsError } from "../AgentOsError.ts"
import type { Payments } from "../payment/Payments.ts"
import type { Settings } from "../Options.ts"
import type { Tokens } from "../session/Tokens.ts"
import type { Answer } from "./Answer.ts"
import type { Http, Request } from "./Http.ts"
import { requestOf, rowOf } from "./Operation.ts"
import type { InputOf, OperationId, OperationRow, OutputOf } from "./OperationTypes.ts"
import { sendRepeatedly } from "./Repetition.ts"
import { dataOf, isSuccess, isTokenRefused } from "./WireError.ts"

export interface CallOptions {
  /** Ends the wait for the answer. A payment that was sent is then open: PAYMENT_OUTCOME_UNKNOWN. */
  readonly signal?: AbortSignal | undefined
}

/** A request of the caller's own, for example of an operation that is newer than this client. */
export interface PlainRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Sent exactly as given. */
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Whether it may be sent again after a lost answer. Default: false. */
  readonly isRepeatable?: boolean | undefined
  /** Whether the answer is a file, which has 10 minutes. Default: false. */
  readonly isDownload?: boolean | undefined
}

/** Free operations with a body that may be repeated, because they only read or are done once. */
const REPEATABLE: ReadonlySet<OperationId> = new Set([
  "acknowledgeAllEvents",
  "acknowledgeEvent",
  "acknowledgeEventById",
  "cancelMessage",
  "getEvent",
  "listEvents",
  "readPaymentStatus",
  "releaseNumber",
  "updateMessages"
])

/** Calls operations: with the token, signed in again where it was lost, and paid where they cost money. */
export class Caller {
  readonly #settings: Settings
  readonly #http: Http
  readonly #tokens: Tokens
  readonly #payments: Payments
  /** How far the clock of the server is ahead of the own one, by its last answer that says so. */
  #skewMillis = 0

  constructor(settings: Settings, http: Http, tokens: Tokens, payments: Payments) {
    this.#settings = settings
    this.#http = http
    this.#tokens = tokens
    this.#payments = payments
  }

  /** The time by the clock of the server, which dates mail. */
  serverNow(): number {
    return this.#settings.clock.now() + this.#skewMillis
  }

  async call<Id extends OperationId>(id: Id, input: InputOf<Id>, { signal }: CallOptions = {}): Promise<OutputOf<Id>> {
    const row = rowOf(id)
    if (row.authentication === "sign-in") return (await this.#tokens.signIn(row.path)) as OutputOf<Id>
    const { network } = this.#settings
    const made = requestOf(row, input)
    // Otherwise a server with many networks offers the first ones.
    const request =
      row.isPaid === true && network !== undefined
        ? { ...made, headers: { ...made.headers, "Accept-Payment": network } }
        : made
    if (row.isPaid === true) {
      const open = this.#payments.findOpen(request)
      if (open !== undefined) return (await this.#payments.resume(open.id, { signal })) as OutputOf<Id>
    }
    const isRepeatable = row.method !== "POST" || row.isPaid === true || REPEATABLE.has(id)
    const { answer, token } = await this.#sendWithToken(row.authentication, request, isRepeatable, signal)
    if (row.isPaid === true)
      return (await this.#payments.pay({ operationId: id, request, token, quote: answer }, signal)) as OutputOf<Id>
    if (row.isDownload === true && isSuccess(answer)) return answer.bytes as OutputOf<Id>
    return dataOf(answer) as OutputOf<Id>
  }

  /** Sends a request of the caller's own, with the access token if there is one. */
  async request(request: PlainRequest, { signal }: CallOptions = {}): Promise<Answer> {
    const { body, headers, isDownload = false, isRepeatable = false, method, path } = request
    const own = { method, path, isDownload, ...(body === undefined ? {} : { body }), ...(headers && { headers }) }
    return (await this.#sendWithToken("bootstrap", own, isRepeatable, signal)).answer
  }

  /** Returns the items of a list of resources; none before the first purchase of the wallet. */
  async itemsOf<Item>(list: Promise<{ readonly items: ReadonlyArray<Item> }>): Promise<ReadonlyArray<Item>> {
    try {
      return (await list).items
    } catch (error) {
      const isNew = error instanceof AgentOsError && error.code === "ONBOARDING_REQUIRED"
      if (isNew && this.#settings.wallet !== undefined) return []
      throw error
    }
  }

  /** Sends a request with the token of the wallet, and with a new one if it is not valid any more. */
  async #sendWithToken(
    authentication: OperationRow["authentication"],
    request: Request,
    isRepeatable: boolean,
    signal: AbortSignal | undefined
  ) {
    const send = async (token: string | undefined) => {
      const answer = await sendRepeatedly(this.#settings, this.#http, { ...request, token }, { isRepeatable, signal })
      const date = Date.parse(answer.headers.get("date") ?? "")
      if (date > 0) this.#skewMillis = date - this.#settings.clock.now()
      return { token, answer }
    }
    if (authentication === "none") return send(undefined)
    const isNeeded = authentication === undefined
    const first = await send(await (isNeeded ? this.#tokens.recover() : this.#tokens.find()))
    if (first.token === undefined || !isTokenRefused(first.answer)) return first
    const renewed = await this.#tokens.renew()
    return renewed === undefined ? first : send(renewed)
  }
}
