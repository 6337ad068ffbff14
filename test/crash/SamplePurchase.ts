import type { Agent } from "../support/Agent.ts"
import type { Movement } from "../support/TokenLog.ts"
import { Buyer } from "./Buyer.ts"
import type { Attempt, Purchase, Told } from "./Purchase.ts"

export const payTo = `0x${"aa".repeat(20)}` as const
export const refundWallet = `0x${"bb".repeat(20)}` as const
const buyer = new Buyer({ baseUrl: "http://127.0.0.1:1" } as never, `0x${"11".repeat(32)}`)
export const price = 20_000n

/** In seconds. */
export const VALID_BEFORE = 1n

let nonces = 0
/** A payment of the one buyer, with a nonce of its own, and what its client was told. */
export const attempt = (...told: ReadonlyArray<Told>): Attempt => ({
  sender: {} as Agent,
  authorization: {
    from: buyer.address,
    to: payTo,
    value: price,
    validAfter: 0n,
    validBefore: VALID_BEFORE,
    nonce: `0x${String(++nonces).padStart(64, "0")}`,
    signature: "0x"
  },
  header: "",
  idempotencyKey: "",
  told: [...told]
})

/** A mail that the buyer wants, with its payments. */
export const purchaseOf = (...attempts: ReadonlyArray<Attempt>): Purchase => ({
  name: "case",
  service: "email.message.send",
  buyer,
  request: { path: "/" },
  goods: { kind: "mail", recipient: "x@else.test" },
  client: "repeats",
  attempts: [...attempts]
})

/** What a payment moves when it is charged. */
export const charge = ({ authorization }: Attempt, value = price): Movement => ({
  from: authorization.from.toLowerCase(),
  to: payTo,
  value,
  nonce: authorization.nonce,
  transaction: "0x"
})
/** A payment back to the buyer. */
export const refund = (value = price): Movement => ({
  from: refundWallet,
  to: buyer.address.toLowerCase(),
  value,
  nonce: "0xre",
  transaction: "0x"
})
