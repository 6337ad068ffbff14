import { setTimeout as sleep } from "node:timers/promises"
import { useOf } from "../faults/client/Wallet.ts"
import { type Answer, dataOf, isSuccess, type Payment, type Use } from "../faults/observation/Purchases.ts"
import type { CrashPurchase } from "./Purchase.ts"

/** A client repeats its request after this time without an answer. */
const PATIENCE_MILLIS = 20_000
const PAUSE_MILLIS = 700
const PAYMENTS_MAX = 3

/** Signs a payment for a purchase without sending it. Fails if the server does not ask for one. */
export const sign = async (purchase: CrashPurchase): Promise<Payment> => {
  const payment = await purchase.wallet.sign(purchase.request)
  useOf(payment, purchase.request)
  purchase.payments.push(payment)
  return payment
}

/** Sends a payment; resolves to undefined if no answer arrives. */
export const send = async (
  { wallet }: CrashPurchase,
  payment: Payment,
  use: Use = payment.uses[0]!
): Promise<Answer | undefined> => {
  const answer = await Promise.race([
    wallet.send(payment, use).catch(() => undefined),
    sleep(PATIENCE_MILLIS, undefined, { ref: false })
  ])
  if (answer === undefined || !isSuccess(answer)) return answer
  // A wallet receives its access token with its first purchase of a mailbox or number.
  const { authentication } = dataOf<{ readonly authentication?: { readonly accessToken: string } }>(answer)
  wallet.token ??= authentication?.accessToken
  return answer
}

export const isFinal = (answer: Answer | undefined): boolean => answer !== undefined && !answer.retryable

/** Sends a signed payment, and then does what a client of the purchase's kind does. */
export const carryThrough = async (purchase: CrashPurchase, first: Payment, signal: AbortSignal): Promise<void> => {
  let payment = first
  for (;;) {
    const answer = await send(purchase, payment)
    if (purchase.client === "gives up" || signal.aborted) return
    if (isFinal(answer) || answer?.status === 402) {
      const paysAgain = purchase.client === "pays again" && answer?.status === 402
      if (!paysAgain || purchase.payments.length >= PAYMENTS_MAX) return
      const next = await sign(purchase).catch(() => undefined)
      if (next === undefined) return
      payment = next
    } else {
      await sleep(PAUSE_MILLIS * (0.5 + Math.random()), undefined, { ref: false })
    }
  }
}
