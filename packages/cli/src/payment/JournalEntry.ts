import type { JournalState as ClientState } from "@agentos/client"
import * as client from "@agentos/client/internal"
import { Failure, type PaymentState } from "@agentos/command-line"
import { createHash } from "node:crypto"
import { isRecord, parseJson } from "../file/Json.ts"

/** The price that the user confirmed. Anything else would be another payment. */
export interface AgreedQuote {
  /** In base units. */
  readonly amount: bigint
  /** Contract address of the token. */
  readonly asset: string
  /** CAIP-2. */
  readonly network: string
  readonly payTo: string
}

/** The state of a payment as this machine knows it. */
export type JournalState =
  /** Signed and on disk; nothing was sent. */
  | { readonly tag: "prepared" }
  /** Being sent, or sent without an answer. Only the same bytes may be sent again. */
  | { readonly tag: "sent"; readonly attempts: number }
  /** Answered by the server. The outcome is open if paymentState says so. */
  | {
      readonly tag: "answered"
      readonly status: number
      readonly requestId: string | null
      readonly paymentState: PaymentState
      /** The transaction of the payment; null if unknown. */
      readonly transaction: string | null
      /** The signed receipt as JWS; null or missing without one. */
      readonly receipt?: string | null
    }
  /** Will never be sent. Reached from `prepared` only. */
  | { readonly tag: "given-up" }

/** A payment, with everything that is needed to repeat its request byte for byte. */
export interface JournalEntry {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly profile: string
  readonly baseUrl: string
  readonly serviceId: string
  readonly method: string
  readonly path: string
  /** The exact text of the body; null without one. */
  readonly body: string | null
  readonly idempotencyKey: string
  /** Whether the access token was sent. The challenge is bound to it. */
  readonly withToken: boolean
  /** The address of the wallet that signed. */
  readonly payer: string
  readonly quote: AgreedQuote
  /** The signed PAYMENT-SIGNATURE header. A secret until it is settled: never printed. */
  readonly paymentSignature: string
  readonly state: JournalState
}

/** A payment as lists read it: a large body is a file of its own, of which the entry has only the hash. */
export interface ListedEntry extends Omit<JournalEntry, "body"> {
  readonly body: string | null | { readonly sha256: string }
}

/** The longest body in the file of an entry, in characters. Every payment reads the entries of the last day. */
const INLINE_LIMIT = 65_536

/** Whether the body is a file of its own. */
export const isLargeBody = (body: string | null): body is string => body !== null && body.length > INLINE_LIMIT

export const hashOfBody = (body: string): string => createHash("sha256").update(body).digest("hex")

/** The allowed moves between the states of a payment. */
export const JOURNAL_TRANSITIONS: Readonly<Record<JournalState["tag"], ReadonlyArray<JournalState["tag"]>>> = {
  prepared: ["sent", "given-up"],
  sent: ["sent", "answered"],
  // The server is asked again about an open answer; the new answer replaces it.
  answered: ["sent", "answered"],
  "given-up": []
}

/** Returns the entry in its next state. Throws if the move is not allowed, which would be a bug. */
export const advance = (entry: JournalEntry, state: JournalState): JournalEntry => {
  if (JOURNAL_TRANSITIONS[entry.state.tag].includes(state.tag)) return { ...entry, state }
  throw new Failure({
    code: "FAILED",
    message: `Payment ${entry.id} cannot move from ${entry.state.tag} to ${state.tag}.`,
    next: [`agentctl payments show ${entry.id}`]
  })
}

/** Returns a state as the client knows it. */
export const clientStateOf = (state: JournalState): ClientState => {
  if (state.tag !== "answered") return state
  return { ...state, receipt: state.receipt ?? null }
}

/** Whether the outcome is unknown, so that `payments resume` can find it out. */
export const isOpen = ({ state }: ListedEntry): boolean => client.isOpen({ state: clientStateOf(state) })

/** Whether the payment counts toward the budget: it was charged, or could be. */
export const mayHaveCharged = ({ state }: ListedEntry): boolean =>
  client.mayHaveCharged({ state: clientStateOf(state) })

/** Returns the time in a payment id, in milliseconds since 1970; undefined for another kind of id. */
export const timeOfPayment = (id: string): number | undefined =>
  id[14] === "7" ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined

const decodeHeader = (header: string): unknown => parseJson(Buffer.from(header, "base64").toString("utf8"))

/** Returns when a signed payment expires, in Unix seconds; null if it does not say. */
export const validUntil = (paymentSignature: string): number | null => {
  const seconds = Number(memberOf(decodeHeader(paymentSignature), "payload", "authorization", "validBefore"))
  return Number.isSafeInteger(seconds) ? seconds : null
}

/** Whether a signed payment has expired, with a margin for clock skew; undefined if it has no expiry. */
export const isExpired = (paymentSignature: string, now: number): boolean | undefined => {
  const validBefore = validUntil(paymentSignature)
  return validBefore === null ? undefined : client.isExpired({ validBefore }, now)
}

const memberOf = (value: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce((within, name) => (isRecord(within) ? within[name] : undefined), value)

/** Returns the transaction and the signed receipt in a PAYMENT-RESPONSE header, each null if it is missing. */
export const readPaymentResponse = (
  header: string | null
): { readonly transaction: string | null; readonly receipt: string | null } => {
  const response = header === null ? undefined : decodeHeader(header)
  const transaction = memberOf(response, "transaction")
  const receipt = memberOf(response, "extensions", "offer-receipt", "info", "receipt", "signature")
  return {
    transaction: typeof transaction === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(transaction) ? transaction : null,
    receipt: typeof receipt === "string" ? receipt : null
  }
}

/** Returns an entry for display: without the signed payment, with the amount in USDT, and whether it is open. */
export const shownEntry = (entry: ListedEntry) => {
  const { paymentSignature: _secret, createdAt, quote, ...others } = entry
  return {
    ...others,
    createdAt: new Date(createdAt).toISOString(),
    quote: { ...quote, amount: client.decimalOf(quote.amount), baseUnits: String(quote.amount) },
    open: isOpen(entry)
  }
}

/** Formats the file of an entry, without a large body. */
export const encodeEntry = (entry: JournalEntry): string => {
  const body = isLargeBody(entry.body) ? { sha256: hashOfBody(entry.body) } : entry.body
  const quote = { ...entry.quote, amount: String(entry.quote.amount) }
  return `${JSON.stringify({ version: 1, ...entry, body, quote }, undefined, 2)}\n`
}

const TEXTS = ["id", "profile", "baseUrl", "serviceId", "method", "path", "idempotencyKey", "payer", "paymentSignature"]
const QUOTE_TEXTS = ["asset", "network", "payTo"]
const TAGS: ReadonlyArray<string> = Object.keys(JOURNAL_TRANSITIONS)

const hasTexts = (value: Readonly<Record<string, unknown>>, names: ReadonlyArray<string>): boolean =>
  names.every((name) => typeof value[name] === "string")

const isState = (value: unknown): value is JournalState => {
  if (!isRecord(value) || typeof value["tag"] !== "string" || !TAGS.includes(value["tag"])) return false
  if (value["tag"] === "sent") return typeof value["attempts"] === "number"
  return (
    value["tag"] !== "answered" || (typeof value["status"] === "number" && typeof value["paymentState"] === "string")
  )
}

/** The advice for a journal file that cannot be read. */
export const KEEP_ADVICE = "Do not delete it before you know what it paid for."

/** Parses the file of the entry `id`. Throws a failure that names the file, because its content is money. */
export const decodeEntry = (value: unknown, id: string, path: string): ListedEntry => {
  const invalid = new Failure({
    code: "CONFIGURATION",
    message: `${path} is not a valid payment file. ${KEEP_ADVICE}`
  })
  if (!isRecord(value) || value["version"] !== 1 || value["id"] !== id) throw invalid
  const { body, createdAt, quote, state, version: _version, ...others } = value
  if (typeof others["withToken"] !== "boolean") throw invalid
  if (!hasTexts(value, TEXTS) || typeof createdAt !== "number" || !isRecord(quote) || !isState(state)) throw invalid
  const { amount } = quote
  if (!hasTexts(quote, QUOTE_TEXTS) || typeof amount !== "string" || !/^\d{1,78}$/.test(amount)) throw invalid
  const isBody = body === null || typeof body === "string" || (isRecord(body) && typeof body["sha256"] === "string")
  if (!isBody) throw invalid
  // The payments of a day are found by the times in their ids.
  if ((timeOfPayment(id) ?? createdAt) !== createdAt) throw invalid
  return { ...others, body, createdAt, state, quote: { ...quote, amount: BigInt(amount) } } as ListedEntry
}
