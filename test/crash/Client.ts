import { encodePaymentSignatureHeader } from "@x402/core/http"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Reply } from "../support/Agent.ts"
import type { SignedAuthorization } from "../support/Treasury.ts"
import type { Attempt, Purchase, Told } from "./Purchase.ts"

/** A client that hears nothing for so long asks again. */
const PATIENCE_MILLIS = 20_000
const PAUSE_MILLIS = 700
/** A client that is told 402 signs another payment; not without end. */
const ATTEMPTS_MAX = 3

/** Signs a payment for a purchase, without sending it. Fails when the server does not ask for one. */
export const sign = async (purchase: Purchase, idempotencyKey: string = randomUUID()): Promise<Attempt> => {
  const { buyer, request } = purchase
  const sender = buyer.sender()
  const payload = await sender.sign(await sender.challenge(request))
  const { authorization, signature } = payload.payload as {
    readonly authorization: Readonly<Record<keyof Omit<SignedAuthorization, "signature">, string>>
    readonly signature: `0x${string}`
  }
  const attempt: Attempt = {
    sender,
    authorization: {
      from: authorization.from as `0x${string}`,
      to: authorization.to as `0x${string}`,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce.toLowerCase() as `0x${string}`,
      signature
    },
    header: encodePaymentSignatureHeader(payload),
    idempotencyKey,
    told: []
  }
  purchase.attempts.push(attempt)
  return attempt
}

/** Sends a payment, and writes down what came back: undefined when nothing did. */
export const send = async (purchase: Purchase, attempt: Attempt): Promise<Told | undefined> => {
  const reply = await answered(attempt.sender.replay(purchase.request, attempt.header, attempt.idempotencyKey))
  if (reply === undefined) return undefined
  const error = reply.body.error
  const told = {
    at: performance.now(),
    status: reply.status,
    code: error?.code,
    retryable: error?.retryable ?? false,
    paymentState: error?.paymentState,
    text: reply.text
  }
  attempt.told.push(told)
  if (told.status < 300) keepToken(purchase, told.text)
  return told
}

/** A wallet's first mailbox comes with the token that opens all that it has. */
const keepToken = ({ buyer }: Purchase, text: string): void => {
  const { data } = JSON.parse(text) as { readonly data: { readonly authentication?: { readonly accessToken: string } } }
  if (data.authentication !== undefined) buyer.learnToken(data.authentication.accessToken)
}

/** The answer, if the connection lived to see it within the client's patience. */
const answered = (reply: Promise<Reply>): Promise<Reply | undefined> =>
  Promise.race([reply.catch(() => undefined), sleep(PATIENCE_MILLIS, undefined, { ref: false })])

/** Whether there is nothing more to ask. */
export const isFinal = (told: Told | undefined): boolean => told !== undefined && !told.retryable

/**
 * Does what a client of the purchase's kind does with a payment that is signed: sends it, and, if it retries, repeats
 * the same bytes until it is told the end, and pays anew when it is told that it must.
 */
export const carryThrough = async (purchase: Purchase, attempt: Attempt, signal: AbortSignal): Promise<void> => {
  let current = attempt
  for (;;) {
    const told = await send(purchase, current)
    if (purchase.client === "gives up" || signal.aborted) return
    if (isFinal(told) || told?.status === 402) {
      const paysAgain = purchase.client === "pays again" && told?.status === 402
      if (!paysAgain || purchase.attempts.length >= ATTEMPTS_MAX) return
      const next = await sign(purchase).catch(() => undefined)
      if (next === undefined) return
      current = next
    } else {
      await sleep(PAUSE_MILLIS * (0.5 + Math.random()), undefined, { ref: false })
    }
  }
}
