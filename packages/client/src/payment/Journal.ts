import type { MoneyMoved } from "../AgentOsError.ts"

/** The state of a payment: `prepared` before the first byte is sent, `sent` without an answer. */
export type JournalState =
  | { readonly tag: "prepared" }
  | { readonly tag: "sent"; readonly attempts: number }
  /** Answered. An unknown outcome, or a charge without its result, leaves the payment open. */
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
  const { moneyMoved, status } = state
  // A payment of another request, which has its result, is reported as a conflict.
  return moneyMoved === "unknown" || (moneyMoved === "yes" && status >= 300 && status !== 409)
}

/**
 * Whether the payment counts toward the daily limit. Every signature counts that may have left this machine, whatever the
 * server says about it: that it was refused, has expired or was refunded is seen on the chain, and a server may lie.
 */
export const mayHaveCharged = ({ state }: Pick<JournalEntry, "state">): boolean => state.tag !== "given-up"
