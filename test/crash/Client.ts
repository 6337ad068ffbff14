import { setTimeout as sleep } from "node:timers/promises"
import { useOf } from "../faults/client/Wallet.ts"
import {
  type Answer,
  dataOf,
  isSuccess,
  type Payment,
  type PaymentStatus,
  type Use
} from "../faults/observation/Purchases.ts"
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

/** The time of a client that is killed, from its request to its end, at most. */
const FIRST_LIFE_MILLIS = 1_500
/** Longer than a payment and its refund take, and than the chain needs to prove that one expired. */
const FOLLOW_MILLIS_MAX = 180_000

/** Reads the status of a payment by its header; undefined while no server answers. */
export const readStatus = ({ wallet }: CrashPurchase, payment: Payment): Promise<PaymentStatus | undefined> =>
  wallet.status(payment).catch(() => undefined)

/** Sends a payment, and is killed before or after the answer, which it does not keep. */
export const sendAndDie = async (purchase: CrashPurchase, payment: Payment): Promise<void> => {
  const sent = send(purchase, payment).catch(() => undefined)
  await Promise.race([sent, sleep(FIRST_LIFE_MILLIS * Math.random())])
}

/**
 * Continues a purchase of which only the request and the signed header are left, by the advice alone. Ends when the
 * advice is that it is done, or when it has signed as many payments as a client may.
 */
export const followAdvice = async (purchase: CrashPurchase, first: Payment): Promise<void> => {
  const deadline = performance.now() + FOLLOW_MILLIS_MAX
  let payment = first
  while (performance.now() < deadline) {
    const status = await readStatus(purchase, payment)
    switch (status?.advice) {
      case undefined:
        await pause()
        break
      case "wait":
        await sleep((status?.retryAfterSeconds ?? 0) * 1_000, undefined, { ref: false })
        break
      case "done": {
        if (status?.paymentState !== "settled") return
        // The stored answer of a purchase that was fulfilled. A server that is killed may not return it.
        const answer = await send(purchase, payment)
        if (answer !== undefined && isSuccess(answer)) return
        await pause()
        break
      }
      case "retry_same":
        await send(purchase, payment)
        await pause()
        break
      case "pay": {
        if (purchase.payments.length >= PAYMENTS_MAX) return
        const next = await sign(purchase).catch(() => undefined)
        if (next === undefined) return
        payment = next
        await send(purchase, payment)
        break
      }
    }
  }
}

const pause = () => sleep(PAUSE_MILLIS * (0.5 + Math.random()), undefined, { ref: false })

export const isFinal = (answer: Answer | undefined): boolean => answer !== undefined && !answer.retryable

/** Sends a signed payment, and then acts as a client of the purchase's kind. */
export const carryThrough = async (purchase: CrashPurchase, first: Payment, signal: AbortSignal): Promise<void> => {
  if (purchase.client === "follows advice") {
    await sendAndDie(purchase, first)
    return followAdvice(purchase, first)
  }
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
      await pause()
    }
  }
}
