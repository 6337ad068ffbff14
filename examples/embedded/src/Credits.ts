import { AdapterError, type CustomRail, type RailPayment } from "@agentos/agentos"
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto"

/** A customer with a prepaid balance, in millionths of a credit: the unit of prices. */
export interface Account {
  readonly address: string
  balance: bigint
  /** Returns the payment that accepts a challenge. */
  readonly pay: (challenge: string, nonce?: string) => string
}

const sign = (key: Uint8Array, { accepted, nonce, payer, validBefore }: RailPayment): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([payer, nonce, validBefore, accepted]))
    .digest()

/** Reads a payment: JSON of the accepted terms, the account, a nonce and the account's signature. */
const read = (header: string): RailPayment & { readonly signature: string } => {
  const { accepted, ...payment } = JSON.parse(header)
  return { ...payment, accepted, amount: BigInt(accepted.amount), payTo: accepted.payTo }
}

/** Prepaid accounts, and the payment rail that charges them. */
export const openCredits = () => {
  const accounts = new Map<string, Account & { readonly key: Uint8Array }>()
  const charges = new Map<string, { readonly transaction: string; readonly amount: bigint }>()
  const refunds = new Set<string>()

  /** Different payers may use the same nonce. */
  const keyOf = ({ nonce, payer }: RailPayment) => `${payer} ${nonce}`

  const rail: CustomRail = {
    terms: (amount) => [{ network: "credits:house", asset: "credit", amount, payTo: "house", maxTimeoutSeconds: 60 }],
    decode: read,
    authenticate: async (payment) => {
      const account = accounts.get(payment.payer)
      const given = Buffer.from(read(payment.header).signature, "hex")
      if (account !== undefined && given.length === 32 && timingSafeEqual(sign(account.key, payment), given)) return
      throw new AdapterError("Rejected", "the payment was not signed by its account")
    },
    verify: async ({ amount, payer }) => {
      if (accounts.get(payer)!.balance < amount) throw new AdapterError("Rejected", "too few credits")
    },
    charge: async (payment) => {
      const { amount, payer } = payment
      const account = accounts.get(payer)!
      if (charges.has(keyOf(payment)) || account.balance < amount)
        throw new AdapterError("Rejected", "it cannot be charged")
      account.balance -= amount
      const transaction = `charge-${charges.size + 1}`
      charges.set(keyOf(payment), { transaction, amount })
      return { transaction }
    },
    find: async (payment) =>
      charges.has(keyOf(payment)) ? { status: "charged", ...charges.get(keyOf(payment))! } : { status: "unused" },
    refund: async ({ amount, id, payer }) => {
      if (!refunds.has(id)) accounts.get(payer)!.balance += amount
      refunds.add(id)
      return { transaction: `refund-${id}` }
    }
  }

  const open = (name: string, balance: bigint): Account => {
    const key = randomBytes(32)
    const payer = `0x${createHash("sha256").update(name).digest("hex").slice(0, 40)}`
    const pay = (challenge: string, nonce = `0x${randomBytes(32).toString("hex")}`): string => {
      const [accepted] = JSON.parse(Buffer.from(challenge, "base64").toString()).accepts
      const validBefore = Math.floor(Date.now() / 1_000) + accepted.maxTimeoutSeconds
      const payment = { payer, nonce, validBefore, accepted }
      return JSON.stringify({ ...payment, signature: sign(key, read(JSON.stringify(payment))).toString("hex") })
    }
    accounts.set(payer, { address: payer, balance, pay, key })
    return accounts.get(payer)!
  }
  return { rail, open }
}
