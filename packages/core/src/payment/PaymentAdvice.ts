import { Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { OperationState, PaymentState } from "./OperationState.ts"
import type { PaymentProof } from "./PaymentTerms.ts"

/**
 * The next step of the holder of a signed payment:
 *
 * - `pay`: sign a new payment if the service is still wanted. This one moved no money to us, and never will;
 * - `retry_same`: repeat the original request with this payment, unchanged;
 * - `wait`: do nothing but read the status again;
 * - `done`: the operation is fulfilled or refunded. Repeating a fulfilled request returns its answer without a charge.
 */
export const PaymentAdvice = Schema.Literals(["pay", "retry_same", "wait", "done"])
export type PaymentAdvice = typeof PaymentAdvice.Type

/**
 * The use of an authorization that no operation holds, according to the chain:
 *
 * - `unused`: it can still be used;
 * - `expired`: it is unused, and finalized chain time is past validBefore;
 * - `paid`: it transferred its amount to us;
 * - `used_otherwise`: it was cancelled, or its nonce was used by another transfer;
 * - `unconfirmed`: its nonce is used, and the chain does not show by which transfer yet;
 * - `unsearched`: its nonce was used before the time that is searched, or may have been;
 * - `unreadable`: the chain can't be read.
 */
export type AuthorizationUse =
  | "unused"
  | "expired"
  | "paid"
  | "used_otherwise"
  | "unconfirmed"
  | "unsearched"
  | "unreadable"

/** The facts about a payment that decide the advice. */
export type PaymentFacts =
  | {
      readonly _tag: "Held"
      readonly state: OperationState
      readonly proof: Pick<PaymentProof, "validBefore">
    }
  | {
      readonly _tag: "Unclaimed"
      readonly use: AuthorizationUse
      readonly proof: Pick<PaymentProof, "validAfter" | "validBefore">
      /**
       * When the challenge expires, as the client echoed it; null if it did not. It is not authenticated, because the
       * request that it is bound to is unknown. A false value misleads only the client that sent it.
       */
      readonly challengeExpiresAt: number | null
    }

export type AdviceWithDelay =
  | { readonly advice: Exclude<PaymentAdvice, "wait"> }
  | { readonly advice: "wait"; readonly retryAfterSeconds: number }

/**
 * Time that a repeated request needs to arrive and to be verified before its challenge and payment expire. Longer than the
 * validity that a rail requires of a payment (10 s in `PaymentRailX402`), or the advice would lead to a refusal.
 */
const REPEAT_MARGIN = 15 * Timestamp.SECOND
/** Delay while a worker, or the chain, is expected to finish soon. */
const POLL_SECONDS = 5
const POLL_SECONDS_MAX = 60
const WAIT_SECONDS_MAX = 3_600

const wait = (seconds: number): AdviceWithDelay => ({
  advice: "wait",
  retryAfterSeconds: Math.min(Math.max(Math.ceil(seconds), POLL_SECONDS), WAIT_SECONDS_MAX)
})

/**
 * Waits until the chain can prove that the authorization expired: until validBefore, and after it for a quarter of the
 * time since then, because the time until a block is final differs by chain.
 */
const waitForExpiry = (validBefore: number, nowSeconds: number): AdviceWithDelay =>
  nowSeconds <= validBefore
    ? wait(validBefore + 1 - nowSeconds)
    : wait(Math.min((nowSeconds - validBefore) / 4, POLL_SECONDS_MAX))

/**
 * Returns the advice for a payment.
 *
 * | operation that holds it | advice |
 * | --- | --- |
 * | `fulfilled`, `refunded` | `done` |
 * | `unpaid` | `pay` |
 * | any other state | `wait`: a worker or the completion job ends the operation |
 *
 * | without one, the chain shows it as | advice |
 * | --- | --- |
 * | `unused`, before validAfter | `wait` until then |
 * | `unused`, valid, and its challenge not expired | `retry_same` |
 * | `unused` otherwise | `wait` until the chain can prove that it expired |
 * | `expired`, `used_otherwise` | `pay`: proof that it moved no money to us, and can't any more |
 * | `paid` | `retry_same`: a repeated request makes the service refund it |
 * | `unsearched` | `retry_same`: used up, and the repeated request says since when to search |
 * | `unconfirmed`, `unreadable` | `wait` |
 */
export const adviceOn = (facts: PaymentFacts, now: Timestamp.Timestamp): AdviceWithDelay => {
  const nowSeconds = now / Timestamp.SECOND
  return facts._tag === "Held" ? adviceOnHeld(facts, nowSeconds) : adviceOnUnclaimed(facts, now, nowSeconds)
}

const adviceOnHeld = (
  { proof, state }: Extract<PaymentFacts, { _tag: "Held" }>,
  nowSeconds: number
): AdviceWithDelay => {
  switch (state) {
    case "fulfilled":
    case "refunded":
      return { advice: "done" }
    case "unpaid":
      return { advice: "pay" }
    case "refused":
      return waitForExpiry(proof.validBefore, nowSeconds)
    case "claimed":
    case "settling":
    case "settled":
    case "fulfilling":
    case "refund_due":
      return wait(POLL_SECONDS)
  }
}

const adviceOnUnclaimed = (
  { challengeExpiresAt, proof: { validAfter, validBefore }, use }: Extract<PaymentFacts, { _tag: "Unclaimed" }>,
  now: Timestamp.Timestamp,
  nowSeconds: number
): AdviceWithDelay => {
  switch (use) {
    case "expired":
    case "used_otherwise":
      return { advice: "pay" }
    case "paid":
    case "unsearched":
      return { advice: "retry_same" }
    case "unconfirmed":
    case "unreadable":
      return wait(POLL_SECONDS)
    case "unused": {
      const until = now + REPEAT_MARGIN
      const canBeRepeated =
        challengeExpiresAt !== null && challengeExpiresAt > until && validBefore * Timestamp.SECOND > until
      if (!canBeRepeated) return waitForExpiry(validBefore, nowSeconds)
      return nowSeconds > validAfter ? { advice: "retry_same" } : wait(validAfter + 1 - nowSeconds)
    }
  }
}

/** The state of a payment that no operation holds, as reported to its holder. */
export const UNCLAIMED_STATES: Readonly<Record<AuthorizationUse, PaymentState>> = {
  unused: "none",
  expired: "none",
  used_otherwise: "none",
  paid: "settled",
  unconfirmed: "unknown",
  unsearched: "unknown",
  unreadable: "unknown"
}
