import { isRecord } from "../file/JsonValue.ts"
import { Failure, type PaymentState } from "../failure/Failure.ts"
import { decimalOf } from "../output/Wording.ts"
import { momentOfPayment } from "./PaymentId.ts"
import { isPastUse } from "./SignedPayment.ts"

/** What was agreed to, and no more: any drift from it is another payment. */
export interface AgreedQuote {
  /** Base units. */
  readonly amount: bigint
  /** Address of the token's contract. */
  readonly asset: string
  /** CAIP-2. */
  readonly network: string
  readonly payTo: string
}

/** Where a payment stands, as far as this machine knows. */
export type JournalState =
  /** Signed and on disk; not a byte was sent. */
  | { readonly tag: "prepared" }
  /** Being sent, or sent without an answer: only the same bytes may be sent again. */
  | { readonly tag: "sent"; readonly attempts: number }
  /** The server has answered. The outcome is open while paymentState says so. */
  | {
      readonly tag: "answered"
      readonly status: number
      readonly requestId: string | null
      readonly paymentState: PaymentState
      /** The transaction that paid; null where none is known. */
      readonly transaction: string | null
    }
  /** Will not be sent any more: only ever from `prepared`. */
  | { readonly tag: "given-up" }

/** One payment: everything that is needed to repeat it, byte by byte. */
export interface JournalEntry {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly profile: string
  readonly baseUrl: string
  readonly serviceId: string
  readonly method: string
  readonly path: string
  /** The exact text; null where there was none. */
  readonly body: string | null
  readonly idempotencyKey: string
  /** Whether the access token was sent with it: the challenge is bound to that too. */
  readonly withToken: boolean
  /** The wallet that signed. */
  readonly payer: string
  readonly quote: AgreedQuote
  /** The signed PAYMENT-SIGNATURE header. A secret until it is settled: never printed. */
  readonly paymentSignature: string
  readonly state: JournalState
}

/** What the state of a payment may become. */
export const JOURNAL_TRANSITIONS: Readonly<Record<JournalState["tag"], ReadonlyArray<JournalState["tag"]>>> = {
  prepared: ["sent", "given-up"],
  sent: ["sent", "answered"],
  // An open answer is asked about again; what it says then replaces it.
  answered: ["sent", "answered"],
  "given-up": []
}

/** Whether it is still to be found out what became of the money, and `payments resume` has something to do. */
export const isOpen = ({ state }: JournalEntry): boolean => {
  if (state.tag === "sent" || state.tag === "prepared") return true
  if (state.tag !== "answered") return false
  const { paymentState, status } = state
  return (
    paymentState === "pending" ||
    paymentState === "unknown" ||
    (paymentState === "settled" && status >= 300 && status !== 409)
  )
}

/**
 * Whether money may have moved: what counts towards the budget. What is not known yet counts as spent, and so does what
 * the server has refused, as long as whoever has seen the signature could still submit it.
 */
export const mayHaveCharged = ({ paymentSignature, state }: JournalEntry, now: number): boolean => {
  if (state.tag === "given-up") return false
  if (state.tag === "answered" && state.paymentState === "none") return isPastUse(paymentSignature, now) === false
  return state.tag !== "answered" || state.paymentState !== "refunded"
}

/** The entry in its next state. Throws where there is no such move: it would be a mistake of this program. */
export const advance = (entry: JournalEntry, state: JournalState): JournalEntry => {
  if (JOURNAL_TRANSITIONS[entry.state.tag].includes(state.tag)) return { ...entry, state }
  throw new Failure({
    code: "FAILED",
    message: `Payment ${entry.id} is ${entry.state.tag}, and can't become ${state.tag}.`,
    next: [`agentctl payments show ${entry.id}`]
  })
}

/** What is shown of an entry: all but the signed payment, and the amount in USDT beside that in base units. */
export const shownEntry = ({ paymentSignature: _secret, createdAt, quote, ...entry }: JournalEntry) => ({
  ...entry,
  createdAt: new Date(createdAt).toISOString(),
  quote: { ...quote, amount: decimalOf(quote.amount), baseUnits: String(quote.amount) }
})

/** The text of an entry's file. */
export const encodeEntry = (entry: JournalEntry): string =>
  `${JSON.stringify({ version: 1, ...entry, quote: { ...entry.quote, amount: String(entry.quote.amount) } }, undefined, 2)}\n`

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

/** What to do about a file of the journal that can't be understood. */
export const NOT_TO_REMOVE = "Do not remove it before you know what it paid for."

/** Reads the file of the entry `id`, which it must be. Throws a Failure that names it: what is in it is money. */
export const decodeEntry = (value: unknown, id: string, path: string): JournalEntry => {
  const broken = new Failure({
    code: "CONFIGURATION",
    message: `${path} is not a payment as this program writes it. ${NOT_TO_REMOVE}`
  })
  if (!isRecord(value) || value["version"] !== 1 || value["id"] !== id) throw broken
  const { body, createdAt, quote, state, version: _version, ...others } = value
  if (typeof others["withToken"] !== "boolean") throw broken
  if (!hasTexts(value, TEXTS) || typeof createdAt !== "number" || !isRecord(quote) || !isState(state)) throw broken
  const { amount } = quote
  if (!hasTexts(quote, QUOTE_TEXTS) || typeof amount !== "string" || !/^\d{1,78}$/.test(amount)) throw broken
  if (body !== null && typeof body !== "string") throw broken
  // Whoever looks for the payments of a day goes by their ids.
  if ((momentOfPayment(id) ?? createdAt) !== createdAt) throw broken
  return { ...others, body, createdAt, state, quote: { ...quote, amount: BigInt(amount) } } as JournalEntry
}
