import { randomUUID } from "node:crypto"

/** A new id of a payment made at `now`, in milliseconds since 1970, which can be read from it (UUID version 7, RFC 9562). */
export const newPaymentId = (now: number): string => {
  const time = now.toString(16).padStart(12, "0")
  // Its random bits and its variant stay as they are.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** When a payment of this id was made, in milliseconds since 1970; undefined where the id does not say. */
export const momentOfPayment = (id: string): number | undefined =>
  id[14] === "7" ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined
