import type { components } from "../generated/Components.ts"

/** The state of a payment in the words of the API. */
export type PaymentState = components["schemas"]["PaymentStatus"]["paymentState"]

/** The state of a payment: `prepared` before the first byte is sent, `sent` without an answer. */
export type JournalState =
  | { readonly tag: "prepared" }
  | { readonly tag: "sent"; readonly attempts: number }
  /** Answered. An unknown outcome, or a charge without its result, leaves the payment open. */
  | {
      readonly tag: "answered"
      readonly status: number
      readonly requestId: string | null
      /** The transaction of the payment; null if unknown. */
      readonly transaction: string | null
      /** The signed receipt as JWS (x402 extension offer-receipt); null without one. */
      readonly receipt: string | null
      /** `pending` and `unknown`: it can still be charged, delivered or refunded. */
      readonly paymentState: PaymentState
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
  /** In millionths of a USDT, as decimal text. */
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
  /**
   * Returns any entry by its id. With it, `payments.resume` also resumes a payment that `load` did not return, and shows the
   * result of a finished one again.
   */
  readonly find?: (id: string) => Promise<JournalEntry | undefined>
}

const CLOCK_SKEW_SECONDS = 60

/** Creates the id of a payment, which contains the time in milliseconds (UUID version 7, RFC 9562). */
export const newPaymentId = (createdAt: number): string => {
  const time = createdAt.toString(16).padStart(12, "0")
  // oxlint-disable-next-line no-restricted-properties -- ids are random on every platform
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`
}

/** Whether the signature is void, with a margin for clocks that differ. */
export const isExpired = ({ validBefore }: Pick<JournalEntry, "validBefore">, now: number): boolean =>
  (validBefore + CLOCK_SKEW_SECONDS) * 1_000 < now

/** Whether the outcome or the result is unknown, so that the same bytes find it out. */
export const isOpen = ({ state }: Pick<JournalEntry, "state">): boolean => {
  if (state.tag !== "answered") return state.tag !== "given-up"
  const { paymentState, status } = state
  if (paymentState === "pending" || paymentState === "unknown") return true
  // A payment of another request, which has its result, is reported as a conflict.
  return paymentState === "settled" && status >= 300 && status !== 409
}

/**
 * Whether the payment counts toward the daily limit. Every signature counts that may have left this machine, whatever the
 * server says about it: that it was refused, has expired or was refunded is seen on the chain, and a server may lie.
 */
export const mayHaveCharged = ({ state }: Pick<JournalEntry, "state">): boolean => state.tag !== "given-up"
