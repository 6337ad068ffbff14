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

/** Somebody who has paid in beforehand. */
export interface CreditAccount {
  /** Shaped as the core wants a payer: `0x` and 40 digits. Here it is made of the account's name. */
  readonly address: string
  /** The PAYMENT-SIGNATURE header that accepts the terms of a challenge. */
  readonly pay: (challenge: string, now: number) => string
}

/** A book of prepaid credits, and the rail by which the core takes payment from it. */
export interface Credits {
  readonly rail: PaymentRail["Service"]
  readonly open: (name: string, credits: bigint) => CreditAccount
  /** What is left, in millionths of a credit, as prices are. */
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

/** A voucher: the house may take this much from that account, once, until then. */
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

/** What a voucher's MAC covers: who pays whom, how much, which voucher, until when. */
const macOf = (key: Uint8Array, { accepted, from, nonce, validBefore }: Omit<Voucher, "mac">): string =>
  createHmac("sha256", key)
    .update(JSON.stringify([from, accepted.payTo, accepted.amount, nonce, validBefore]))
    .digest("hex")

/** A credit is worth what a USDT is in the catalog of prices. */
export const creditUnits = (credits: number): bigint => BigInt(credits) * 1_000_000n

/**
 * Opens an empty book. It plays both parts that a chain and a facilitator play for x402: it takes payments, each
 * voucher once, and it says afterwards what became of one.
 */
export const openCredits = (): Credits => {
  const accounts = new Map<string, { readonly key: Uint8Array; balance: bigint }>()
  /** By nonce: the entry that used it. */
  const entries = new Map<string, { readonly amount: bigint; readonly number: bigint }>()

  /** What moved, in the order of its numbers; and by the nonce of a refund, its entry. */
  const moved: Array<ChainTransfer> = []
  const refunds = new Map<string, string>()

  const take = (proof: PaymentProof, terms: PaymentTerms): SettleAnswer => {
    const account = accounts.get(proof.payer)
    if (account === undefined || account.balance < terms.amount) return { _tag: "Refused", message: "too few credits" }
    if (entries.has(proof.nonce)) return { _tag: "Refused", message: "the voucher was used before" }
    account.balance -= terms.amount
    const number = BigInt(entries.size + 1)
    entries.set(proof.nonce, { amount: terms.amount, number })
    const transaction = `entry-${number}`
    moved.push({ direction: "received", transaction, block: number, wallet: proof.payer, amount: terms.amount })
    return { _tag: "Accepted", transaction }
  }

  /** Puts the credits back, once for each nonce. */
  const giveBack = ({ nonce, proof, terms }: Refund): RefundProgress => {
    const transaction = refunds.get(nonce) ?? `back-${refunds.size + 1}`
    const account = accounts.get(proof.payer)
    if (!refunds.has(nonce) && account !== undefined) {
      account.balance += terms.amount
      refunds.set(nonce, transaction)
      const block = BigInt(entries.size)
      moved.push({ direction: "refunded", transaction, block, wallet: proof.payer, amount: terms.amount })
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
    // Vouchers are shown to nobody but the house, so nothing is gained by binding one to a challenge.
    isBoundElsewhere: () => false,
    authenticate: (proof) =>
      Effect.suspend(() => {
        const voucher = JSON.parse(proof.payload) as Voucher
        const account = accounts.get(proof.payer)
        const genuine =
          account !== undefined &&
          timingSafeEqual(Buffer.from(macOf(account.key, voucher), "hex"), Buffer.from(voucher.mac, "hex"))
        return genuine ? Effect.void : Effect.fail(new ProofInvalid({ message: "not a voucher of that account" }))
      }),
    verify: Effect.fnUntraced(function* (proof, terms) {
      const invalid = (message: string) => new ProofInvalid({ message })
      const now = yield* Timestamp.now
      if (proof.payTo !== terms.payTo || proof.value !== terms.amount) return yield* invalid("not what it costs")
      if (now >= proof.validBefore * Timestamp.SECOND) return yield* invalid("the voucher has run out")
      if ((accounts.get(proof.payer)?.balance ?? 0n) < terms.amount) return yield* invalid("too few credits")
    }),
    simulate: Effect.fnUntraced(function* (proof, terms) {
      if (entries.has(proof.nonce) || (accounts.get(proof.payer)?.balance ?? 0n) < terms.amount) {
        return yield* new ProofInvalid({ message: "the voucher would not be taken" })
      }
    }),
    readNonce: (proof) =>
      Effect.sync((): NonceReading => ({ used: entries.has(proof.nonce), block: BigInt(entries.size) })),
    settle: (proof, terms) => Effect.sync(() => take(proof, terms)),
    findSettlement: Effect.fnUntraced(function* (proof, terms, after): Effect.fn.Return<Settlement> {
      const entry = entries.get(proof.nonce)
      if (entry === undefined) {
        return { _tag: "Unused", expired: (yield* Timestamp.now) >= proof.validBefore * Timestamp.SECOND }
      }
      return entry.number > after && entry.amount === terms.amount
        ? { _tag: "Paid", transaction: `entry-${entry.number}`, block: entry.number }
        : { _tag: "UsedOtherwise", message: "the voucher was used for something else" }
    }),
    // Entries have no time. None was made for a challenge that came after it, since only the house takes vouchers.
    blockBefore: () => Effect.succeed(0n),
    canRefund: () => true,
    refund: (refund) => Effect.sync(() => giveBack(refund)),
    transfers: (_token, fromBlock) =>
      Effect.sync(() => ({ transfers: moved.filter(({ block }) => block >= fromBlock), nextBlock: null })),
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
