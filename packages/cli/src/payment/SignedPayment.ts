import { isRecord } from "../file/JsonValue.ts"

const decoded = (header: string): unknown => {
  try {
    return JSON.parse(Buffer.from(header, "base64").toString("utf8"))
  } catch {
    return undefined
  }
}

/** Until when the token's contract takes a signed payment, in milliseconds since 1970; null where it does not say. */
export const validUntil = (paymentSignature: string): number | null => {
  const payment = decoded(paymentSignature)
  const payload = isRecord(payment) ? payment["payload"] : undefined
  const authorization = isRecord(payload) ? payload["authorization"] : undefined
  const seconds = isRecord(authorization) ? Number(authorization["validBefore"]) : Number.NaN
  return Number.isSafeInteger(seconds) ? seconds * 1_000 : null
}

/** Clocks differ: a payment counts as over only so long after its end. */
const CLOCK_SKEW_MILLIS = 60_000

/** Whether the token's contract takes a signed payment no more; undefined where it does not say until when it does. */
export const isPastUse = (paymentSignature: string, now: number): boolean | undefined => {
  const until = validUntil(paymentSignature)
  return until === null ? undefined : until + CLOCK_SKEW_MILLIS < now
}

/** The transaction that a PAYMENT-RESPONSE header names; null where there is none. */
export const transactionIn = (header: string | null): string | null => {
  const receipt = header === null ? undefined : decoded(header)
  const transaction = isRecord(receipt) ? receipt["transaction"] : undefined
  return typeof transaction === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(transaction) ? transaction : null
}
