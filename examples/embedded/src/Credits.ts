import {
  type ChainTransfer,
  type NonceReading,
  type PaymentProof,
  PaymentRail,
  type PaymentTerms,
  ProofInvalid,
  ProofMalformed,
  type Refund,
  type RefundProgress,
  type SettleAnswer,
  type Settlement,
  Timestamp
} from "@agentos/core"
import { Effect, Schema } from "effect"
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto"

/** A prepaid account. */
export interface CreditAccount {
  /** In the core's format of a payer, `0x` and 40 digits; here derived from the account's name. */
  readonly address: string
  /** Returns the PAYMENT-SIGNATURE header that accepts the terms of a challenge. */
  readonly pay: (challenge: string, now: number) => string
}

/** Prepaid accounts, and the payment rail through which the core charges them. */
export interface Credits {
  readonly rail: PaymentRail["Service"]
  readonly open: (name: string, credits: bigint) => CreditAccount
  /** Returns the balance in millionths of a credit, the unit of prices. */
  readonly balance: (address: string) => bigint
}

const house = "house"

const Accepted = Schema.Struct({
  scheme: Schema.Literal("exact"),
  network: Schema.String,
  asset: Schema.String,
  amount: Schema.String.check(Schema.isPattern(/^\d{1,30}$/)),
  payTo: Schema.String,
  maxTimeoutSeconds: Schema.Int,
  extra: Schema.Record(Schema.String, Schema.Unknown)
})
const Challenge = Schema.Struct({ accepts: Schema.NonEmptyArray(Accepted) })

/** A voucher allows one charge of an account, up to a time. */
const Voucher = Schema.Struct({
  from: Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{40}$/)),
  nonce: Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{64}$/)),
  validBefore: Schema.Int,
  accepted: Accepted,
  mac: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))
})
type Voucher = typeof Voucher.Type

const decodeChallenge = Schema.decodeUnknownSync(Schema.fromJsonString(Challenge))
const decodeVoucher = Schema.decodeUnknownEffect(Schema.fromJsonString(Voucher))

/** The MAC covers payer, payee, amount, nonce and expiry. */
const macOf = (key: Uint8Array, { accepted, from, nonce, validBefore }: Omit<Voucher, "mac">): string =>
  createHmac("sha256", key)
    .update(JSON.stringify([from, accepted.payTo, accepted.amount, nonce, validBefore]))
    .digest("hex")

/** A credit has the value of a USDT in the catalog. */
export const creditUnits = (credits: number): bigint => BigInt(credits) * 1_000_000n

/**
 * Creates an empty ledger. It has the roles of both a chain and a facilitator: it charges each voucher once, and reports
 * the state of a charge later.
 */
export const openCredits = (): Credits => {
  const accounts = new Map<string, { readonly key: Uint8Array; balance: bigint }>()
  /** The charges by nonce. */
  const charges = new Map<string, { readonly amount: bigint; readonly number: bigint }>()

  /** All transfers in order. */
  const transferLog: Array<ChainTransfer> = []
  /** The transactions of refunds by nonce. */
  const refunds = new Map<string, string>()

  const charge = (proof: PaymentProof, terms: PaymentTerms): SettleAnswer => {
    const account = accounts.get(proof.payer)
    if (account === undefined || account.balance < terms.amount) return { _tag: "Refused", message: "too few credits" }
    if (charges.has(proof.nonce)) return { _tag: "Refused", message: "the voucher was already used" }
    account.balance -= terms.amount
    const number = BigInt(charges.size + 1)
    charges.set(proof.nonce, { amount: terms.amount, number })
    const transaction = `charge-${number}`
    transferLog.push({ direction: "received", transaction, block: number, wallet: proof.payer, amount: terms.amount })
    return { _tag: "Accepted", transaction }
  }

  /** Refunds a charge, once for each nonce. */
  const refundCharge = ({ nonce, proof, terms }: Refund): RefundProgress => {
    const transaction = refunds.get(nonce) ?? `refund-${refunds.size + 1}`
    const account = accounts.get(proof.payer)
    if (!refunds.has(nonce) && account !== undefined) {
      account.balance += terms.amount
      refunds.set(nonce, transaction)
      const block = BigInt(charges.size)
      transferLog.push({ direction: "refunded", transaction, block, wallet: proof.payer, amount: terms.amount })
    }
    return { _tag: "Paid", transaction }
  }

  const rail = PaymentRail.of({
    terms: (amount) => [
      {
        scheme: "exact",
        network: "credits:house",
        asset: "credit",
        amount,
        payTo: house,
        maxTimeoutSeconds: 60,
        extra: {}
      }
    ],
    encodeChallenge: ({ accepts, error }) =>
      JSON.stringify({ error, accepts: accepts.map((terms) => ({ ...terms, amount: String(terms.amount) })) }),
    decodeProof: (header) =>
      decodeVoucher(header).pipe(
        Effect.mapError((error) => new ProofMalformed({ message: error.message })),
        Effect.map((voucher) => toProof(header, voucher))
      ),
    // Only this host sees vouchers, so they need no binding to a challenge.
    isBoundElsewhere: () => false,
    authenticate: (proof) =>
      Effect.suspend(() => {
        const voucher = JSON.parse(proof.payload) as Voucher
        const account = accounts.get(proof.payer)
        const isValid =
          account !== undefined &&
          timingSafeEqual(Buffer.from(macOf(account.key, voucher), "hex"), Buffer.from(voucher.mac, "hex"))
        return isValid
          ? Effect.void
          : Effect.fail(new ProofInvalid({ message: "the voucher does not belong to the account" }))
      }),
    verify: Effect.fnUntraced(function* (proof, terms) {
      const invalid = (message: string) => new ProofInvalid({ message })
      const now = yield* Timestamp.now
      if (proof.payTo !== terms.payTo || proof.value !== terms.amount)
        return yield* invalid("payee or amount differ from the terms")
      if (now >= proof.validBefore * Timestamp.SECOND) return yield* invalid("the voucher has expired")
      if ((accounts.get(proof.payer)?.balance ?? 0n) < terms.amount) return yield* invalid("too few credits")
    }),
    simulate: Effect.fnUntraced(function* (proof, terms) {
      if (charges.has(proof.nonce) || (accounts.get(proof.payer)?.balance ?? 0n) < terms.amount) {
        return yield* new ProofInvalid({ message: "the voucher cannot be charged" })
      }
    }),
    readNonce: (proof) =>
      Effect.sync((): NonceReading => ({ used: charges.has(proof.nonce), block: BigInt(charges.size) })),
    settle: (proof, terms) => Effect.sync(() => charge(proof, terms)),
    findSettlement: Effect.fnUntraced(function* (proof, terms, after): Effect.fn.Return<Settlement> {
      const charged = charges.get(proof.nonce)
      if (charged === undefined) {
        return { _tag: "Unused", expired: (yield* Timestamp.now) >= proof.validBefore * Timestamp.SECOND }
      }
      return charged.number > after && charged.amount === terms.amount
        ? { _tag: "Paid", transaction: `charge-${charged.number}`, block: charged.number }
        : { _tag: "UsedOtherwise", message: "the voucher was used for another charge" }
    }),
    // Charges have no time. Only this host charges vouchers, so no charge precedes its challenge.
    blockBefore: () => Effect.succeed(0n),
    canRefund: () => true,
    refund: (refund) => Effect.sync(() => refundCharge(refund)),
    transfers: (_token, fromBlock) =>
      Effect.sync(() => ({ transfers: transferLog.filter(({ block }) => block >= fromBlock), nextBlock: null })),
    encodeReceipt: ({ amount, ...receipt }) => JSON.stringify({ ...receipt, amount: String(amount) })
  })

  return {
    rail,
    open: (name, credits) => {
      const address = `0x${createHash("sha256").update(name).digest("hex").slice(0, 40)}`
      const key = randomBytes(32)
      accounts.set(address, { key, balance: credits })
      return {
        address,
        pay: (challenge, now) => {
          const [accepted] = decodeChallenge(challenge).accepts
          const nonce = `0x${randomBytes(32).toString("hex")}`
          const validBefore = Math.floor(now / 1_000) + accepted.maxTimeoutSeconds
          const voucher = { from: address, nonce, validBefore, accepted }
          return JSON.stringify({ ...voucher, mac: macOf(key, voucher) })
        }
      }
    },
    balance: (address) => accounts.get(address)?.balance ?? 0n
  }
}

const toProof = (header: string, voucher: Voucher): PaymentProof => ({
  digest: createHash("sha256").update(header).digest("hex"),
  network: voucher.accepted.network,
  asset: voucher.accepted.asset,
  payer: voucher.from,
  payTo: voucher.accepted.payTo,
  value: BigInt(voucher.accepted.amount),
  nonce: voucher.nonce,
  validAfter: 0,
  validBefore: voucher.validBefore,
  accepted: voucher.accepted,
  payload: JSON.stringify(voucher)
})
