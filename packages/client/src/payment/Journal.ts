import type { MoneyMoved } from "../AgentOsError.ts"

/** The state of a payment: `prepared` before the first byte is sent, `sent` without an answer. */
export type JournalState =
  | { readonly tag: "prepared" }
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
  /** A UUID that contains the time of creation (version 7). */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly baseUrl: string
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly body: string | null
  readonly idempotencyKey: string
  /** Whether the access token is sent. The challenge is bound to it. */
  readonly withToken: boolean
  readonly payer: string
  /** In base units of the token, as decimal text. */
  readonly amount: string
  readonly asset: string
  readonly network: string
  readonly payTo: string
  /** Unix seconds after which the signature is void. */
  readonly validBefore: number
  /** Keep it secret: anyone can submit it until it expires. */
  readonly paymentSignature: string
  readonly state: JournalState
}

/** Stores payments durably, for one client at a time. A rejected `save` stops a payment before anything is sent. */
export interface PaymentJournal {
  /** Returns at least the open entries, and those of the last 24 hours. */
  readonly load: () => Promise<ReadonlyArray<JournalEntry>>
  /** Stores or replaces an entry, which must survive a crash once this resolves. */
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
