import type { MoneyMoved } from "../AgentOsError.ts"

/** The state of a payment. Only a `prepared` payment was certainly not sent. */
export type JournalState =
  /** Signed; nothing was sent. */
  | { readonly tag: "prepared" }
  /** Being sent, or sent without an answer. Only the same bytes may be sent again. */
  | { readonly tag: "sent"; readonly attempts: number }
  /** Answered by the server. `moneyMoved: "unknown"` leaves the payment open. */
  | {
      readonly tag: "answered"
      readonly status: number
      readonly requestId: string | null
      readonly moneyMoved: MoneyMoved
      /** The PAYMENT-RESPONSE header, which contains the signed receipt; null without one. */
      readonly receipt: string | null
    }
  /** Never sent, and expired. */
  | { readonly tag: "given-up" }

/** A payment with everything that repeats its request byte for byte. It is JSON. */
export interface JournalEntry {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly baseUrl: string
  readonly operationId: string
  readonly method: string
  readonly path: string
  /** The exact text of the body; null without one. */
  readonly body: string | null
  readonly idempotencyKey: string
  /** Whether the access token is sent. The challenge is bound to it. */
  readonly withToken: boolean
  /** The address of the wallet that signed. */
  readonly payer: string
  /** In base units of the token, as decimal text. */
  readonly amount: string
  readonly asset: string
  readonly network: string
  readonly payTo: string
  /** Unix seconds after which the signature is void. */
  readonly validBefore: number
  /** The signed PAYMENT-SIGNATURE header. Keep it secret: it can be submitted by anyone until it expires. */
  readonly paymentSignature: string
  readonly state: JournalState
}

/**
 * Stores payments durably. One client at a time may use a journal. A rejected `save` stops the payment before anything
 * is sent.
 */
export interface PaymentJournal {
  /** Returns every open entry and those of the last 24 hours, which the daily limit counts. Called once. */
  readonly load: () => Promise<ReadonlyArray<JournalEntry>>
  /** Stores an entry, or replaces the one with its id. It must survive a crash once this resolves. */
  readonly save: (entry: JournalEntry) => Promise<void>
}

const CLOCK_SKEW_SECONDS = 60

/** Whether the signature is void, with a margin for clocks that differ. */
export const isExpired = ({ validBefore }: JournalEntry, now: number): boolean =>
  (validBefore + CLOCK_SKEW_SECONDS) * 1_000 < now

/** Whether the outcome is unknown, so that the same bytes find it out. */
export const isOpen = ({ state }: JournalEntry): boolean =>
  state.tag === "prepared" || state.tag === "sent" || (state.tag === "answered" && state.moneyMoved === "unknown")

/**
 * Whether the payment counts toward the daily limit: it was charged, or could be. A refused one counts until it
 * expires, because anyone who has seen the signature could submit it.
 */
export const mayHaveCharged = (entry: JournalEntry, now: number): boolean => {
  const { state } = entry
  if (state.tag === "given-up") return false
  if (state.tag !== "answered") return true
  return state.moneyMoved === "no" ? !isExpired(entry, now) : state.moneyMoved !== "refunded"
}
