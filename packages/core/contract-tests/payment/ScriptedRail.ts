import {
  AllowanceRequired,
  type ChainTransfer,
  PaymentRail,
  type PaymentProof,
  type PaymentTerms,
  ProofInvalid,
  ProofMalformed,
  ProviderError,
  type RefundProgress,
  RequestBinding,
  type SettleAnswer,
  type Settlement
} from "@agentos/core"
import { Effect, Option, Schema } from "effect"

/** The facilitator's behavior in the next settlement. */
export type SettleScript =
  | "settle"
  | "refuse"
  | "lose the answer"
  | "fail before"
  | "use otherwise"
  | "hang"
  | "keep a fee"

/** A chain with one token, and a facilitator that follows a script. */
export interface ScriptedRail {
  readonly rail: PaymentRail["Service"]
  /** Changes the terms that are offered from now on. */
  readonly change: (terms: Partial<Omit<PaymentTerms, "amount">>) => void
  /** The behavior of the next settlements, in order; `settle` when it is empty. */
  readonly script: Array<SettleScript>
  /** Number of transfers to us on the chain, by payer. */
  readonly transfers: ReadonlyMap<string, number>
  /** Every transfer that the chain shows, in order. */
  readonly log: Array<ChainTransfer>
  /** Returns how often the signer of an authorization was recovered. */
  readonly authentications: () => number
  /** Returns how often the facilitator was asked to settle. */
  readonly settleCalls: () => number
  /** The nonces of the authorizations that were revealed to a third party, in order. */
  readonly shown: ReadonlyArray<string>
  /**
   * Failures: whether signatures, the payer's balance, or the chain cannot be read; whether the chain's logs lag behind
   * its state; whether everything on it is older than the challenges; whether the payer's balance is too low, or its
   * allowance is missing; whether the operator has removed the token; and the result of a simulation.
   */
  readonly outage: {
    authentication: boolean
    verify: boolean
    chain: boolean
    logs: boolean
    late: boolean
    poor: boolean
    allowance: boolean
    retired: boolean
    simulation: "passes" | "fails" | "away"
  }
  /** The answers to the next requests for the block before a moment; when it is empty, the block before everything. */
  readonly blocksBefore: Array<bigint>
  /** Uses the authorization in a header once its nonce has been read, as a third party would. */
  readonly useNonceOnceRead: (header: string) => void
  /** Uses the authorization in a header as a third party would. */
  readonly useNonce: (header: string) => void
  /** Whether the chain shows only transfers, and not which authorization made each. */
  readonly untied: { isUntied: boolean }
  /**
   * Uses the authorization in a header without a transfer, beside the transfer of the one in another header, and perhaps beside
   * more transfers that lack confirmations.
   */
  readonly useBeside: (header: string, other: string, hasUnconfirmed?: boolean) => void
  /** The price below which nothing is offered. */
  readonly unsoldBelow: { price: bigint }
  /** Networks that are offered after the first one, on the same terms. */
  readonly otherNetworks: Array<string>
  /** The refunds paid, by the nonce of the refund. */
  readonly refunds: ReadonlyMap<string, { readonly wallet: string; readonly amount: bigint }>
  /** The obstacle to refunds: none, a payment that is not final, no wallet, or a lost answer. */
  readonly refunding: { mode: "pays" | "waits" | "no wallet" | "loses the answer" }
  /** The transfers between other wallets, of which `direction` is that of the recipient's `wallet`. */
  readonly strangers: Array<ChainTransfer>
  /** The newest final block. */
  readonly finality: { block: bigint }
  /** Ends the authorization in a header: it expires unused, or is used for something else. */
  readonly end: (header: string, how: "expired" | "used otherwise") => void
}

const TERMS: Omit<PaymentTerms, "amount"> = {
  scheme: "exact",
  network: "eip155:402402",
  asset: "0x00000000000000000000000000000000000000a1",
  payTo: "0x00000000000000000000000000000000000000b2",
  maxTimeoutSeconds: 30,
  extra: { name: "USDT0", version: "1" }
}

const Accepted = Schema.Struct({
  scheme: Schema.String,
  network: Schema.String,
  asset: Schema.String,
  amount: Schema.String,
  payTo: Schema.String,
  maxTimeoutSeconds: Schema.Int,
  extra: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Int]))
})

const Challenge = Schema.fromJsonString(
  Schema.Struct({ error: Schema.NullOr(Schema.String), resource: Schema.String, accepts: Schema.Array(Accepted) })
)

const Payment = Schema.fromJsonString(
  Schema.Struct({
    payer: Schema.String,
    nonce: Schema.String,
    accepted: Accepted,
    forged: Schema.Boolean,
    identifier: Schema.optionalKey(Schema.String)
  })
)

const toHeader = (text: string) => Buffer.from(text).toString("base64")
const fromHeader = (header: string) => Buffer.from(header, "base64").toString()

/** Decodes a challenge. */
export const readChallenge = (header: string) => Schema.decodeSync(Challenge)(fromHeader(header))

/** Returns the header with which `payer` accepts the first terms of a challenge, with a new authorization. */
export const pay = (challenge: string, payer: string, nonce: string, forged = false, identifier?: string): string => {
  const [accepted] = readChallenge(challenge).accepts
  if (accepted === undefined) throw new Error("the challenge offers nothing")
  return toHeader(
    Schema.encodeSync(Payment)({ payer, nonce, accepted, forged, ...(identifier === undefined ? {} : { identifier }) })
  )
}

/** Returns the nonce that binds a payment to a challenge, by the rule of this rail. */
export const boundNonceOf = (challenge: string): string => {
  const [accepted] = readChallenge(challenge).accepts
  return `bound ${accepted?.extra["binding"]}`
}

const decode = (header: string): PaymentProof => {
  const { accepted, forged, identifier, nonce, payer } = Schema.decodeSync(Payment)(fromHeader(header))
  return {
    // Any value that distinguishes headers is sufficient here.
    digest: header,
    network: accepted.network,
    asset: accepted.asset,
    payer,
    payTo: accepted.payTo,
    value: BigInt(accepted.amount),
    nonce,
    validAfter: 0,
    validBefore: 10_000_000_000,
    accepted,
    ...(identifier === undefined ? {} : { identifier }),
    payload: forged ? "forged" : "{}"
  }
}

const NO_ALLOWANCE = new AllowanceRequired({
  message: "Permit2 may not move the tokens of the wallet",
  transaction: { network: TERMS.network, to: TERMS.asset, data: "0x095ea7b3" }
})

const REFUND_WALLET = "0x00000000000000000000000000000000000000c3"
/** Returns the transaction of a refund. */
const refundedBy = (nonce: string): string => `0xback${nonce.slice(2)}`

const noWallet = new ProviderError({ provider: "chain", reason: "Misconfigured", message: "No refund wallet" })
const notFinal: RefundProgress = { _tag: "Pending", message: "the payment is not final" }

const cancelled: Settlement = { _tag: "UsedOtherwise", message: "cancelled by its owner", block: 10n }
const usedBefore: Settlement = { _tag: "UsedOtherwise", message: "used before" }

export const make = (): ScriptedRail => {
  const script: Array<SettleScript> = []
  const transfers = new Map<string, number>()
  const used = new Map<string, Settlement>()
  const refunds = new Map<string, { readonly wallet: string; readonly amount: bigint }>()
  const refunding: ScriptedRail["refunding"] = { mode: "pays" }
  const log: Array<ChainTransfer> = []
  const strangers: Array<ChainTransfer> = []
  const finality = { block: 2n ** 64n }
  const outage: ScriptedRail["outage"] = {
    authentication: false,
    verify: false,
    chain: false,
    logs: false,
    late: false,
    poor: false,
    allowance: false,
    retired: false,
    simulation: "passes"
  }
  const shown: Array<string> = []
  const blocksBefore: Array<bigint> = []
  const frontRunning = new Set<string>()
  const untied = { isUntied: false }
  const unsoldBelow = { price: 0n }
  const otherNetworks: Array<string> = []
  let offered = TERMS
  let block = 1n
  let settleCalls = 0
  let authentications = 0

  const unreachable = new ProviderError({ provider: "chain", reason: "Temporary", message: "The chain is unreachable" })
  const transfer = (proof: PaymentProof, fee = 0n) => {
    if (used.has(proof.nonce)) return
    const transaction = `0x${proof.nonce}`
    const candidates = [{ transferId: transaction, transaction }]
    const more = { ...(untied.isUntied && { candidates }), ...(fee > 0n && { isShort: true as const }) }
    used.set(proof.nonce, { _tag: "Paid", transaction, block: ++block, ...more })
    log.push({ direction: "received", transaction, block, wallet: proof.payer, amount: proof.value - fee })
    transfers.set(proof.payer, (transfers.get(proof.payer) ?? 0) + 1)
  }
  const settle = (proof: PaymentProof): SettleAnswer => {
    settleCalls++
    switch (script.shift() ?? "settle") {
      case "settle":
      case "hang":
        transfer(proof)
        return { _tag: "Accepted", transaction: `0x${proof.nonce}` }
      case "keep a fee":
        transfer(proof, 250n)
        return { _tag: "Accepted", transaction: `0x${proof.nonce}` }
      case "refuse":
        return { _tag: "Refused", message: "the facilitator refuses" }
      case "lose the answer":
        transfer(proof)
        return { _tag: "Unknown", message: "no answer" }
      case "fail before":
        return { _tag: "Unknown", message: "500" }
      case "use otherwise":
        used.set(proof.nonce, cancelled)
        return { _tag: "Unknown", message: "500" }
    }
  }
  const unlessChainIsOut = <A>(read: () => A) =>
    Effect.suspend(() => (outage.chain ? Effect.fail(unreachable) : Effect.succeed(read())))

  const termsOf = (amount: bigint): ReadonlyArray<PaymentTerms> =>
    [offered.network, ...otherNetworks].map((network) => ({ ...offered, network, amount }))

  const rail = PaymentRail.of({
    terms: termsOf,
    offers: (amount) => (amount < unsoldBelow.price ? [] : termsOf(amount)),
    challengeEncoder:
      ({ accepts, error, resource }) =>
      (bindings) =>
        toHeader(
          Schema.encodeSync(Challenge)({
            error: error ?? null,
            resource: resource.url,
            accepts: accepts.map((terms, place) => ({
              ...RequestBinding.boundTerms(terms, bindings[place]!),
              amount: terms.amount.toString()
            }))
          })
        ),
    decodeProof: (header) =>
      Effect.try({ try: () => decode(header), catch: () => new ProofMalformed({ message: "This is no payment" }) }),
    isBoundElsewhere: ({ nonce }, { extra }) => nonce.startsWith("bound ") && nonce !== `bound ${extra["binding"]}`,
    authenticate: (proof) =>
      Effect.suspend((): Effect.Effect<void, ProofInvalid | ProviderError> => {
        authentications++
        if (outage.authentication) return Effect.fail(unreachable)
        return outage.retired || proof.payload === "forged"
          ? Effect.fail(new ProofInvalid({ message: "Not signed by the payer" }))
          : Effect.void
      }),
    verify: () =>
      Effect.suspend((): Effect.Effect<void, ProofInvalid | AllowanceRequired | ProviderError> => {
        if (outage.verify) return Effect.fail(unreachable)
        if (outage.allowance) return Effect.fail(NO_ALLOWANCE)
        return outage.poor ? Effect.fail(new ProofInvalid({ message: "The wallet holds too little" })) : Effect.void
      }),
    simulate: (proof) =>
      Effect.suspend((): Effect.Effect<void, ProofInvalid | ProviderError> => {
        shown.push(proof.nonce)
        if (outage.simulation === "away") return Effect.fail(unreachable)
        return outage.simulation === "fails" || used.has(proof.nonce)
          ? Effect.fail(new ProofInvalid({ message: "The transfer would fail" }))
          : Effect.void
      }),
    readFunds: (_token, wallet) =>
      unlessChainIsOut(() => ({ balance: outage.poor ? 0n : BigInt(wallet), allowance: outage.allowance ? 0n : null })),
    readNonce: (proof) =>
      unlessChainIsOut(() => {
        const use = used.get(proof.nonce)
        const reading = { used: use !== undefined && use._tag !== "Unused", block }
        // By the next request, a third party has submitted it.
        if (frontRunning.delete(proof.nonce)) transfer(proof)
        return reading
      }),
    blockBefore: () => unlessChainIsOut(() => blocksBefore.shift() ?? (outage.late ? block : 1n)),
    settle: (proof) =>
      Effect.suspend(() => {
        shown.push(proof.nonce)
        const hangs = script[0] === "hang"
        const answer = settle(proof)
        return hangs ? Effect.never : Effect.succeed(answer)
      }),
    findSettlement: (proof, _terms, afterBlock) =>
      unlessChainIsOut((): Settlement => {
        const use = used.get(proof.nonce)
        if (use === undefined) return { _tag: "Unused", expired: false }
        if (outage.logs) return { _tag: "Unsettled" }
        return use._tag === "Paid" && use.block <= afterBlock ? usedBefore : use
      }),
    listsTransfers: true,
    canRefund: () => refunding.mode !== "no wallet",
    refund: ({ nonce, proof: { payer }, terms }) =>
      unlessChainIsOut((): Effect.Effect<RefundProgress, ProviderError> => {
        const transaction = refundedBy(nonce)
        if (refunds.has(nonce)) return Effect.succeed({ _tag: "Paid", transaction } as const)
        if (refunding.mode === "no wallet") return Effect.fail(noWallet)
        if (refunding.mode === "waits") return Effect.succeed(notFinal)
        refunds.set(nonce, { wallet: payer, amount: terms.amount })
        log.push({ direction: "refunded", transaction, block: ++block, wallet: payer, amount: terms.amount })
        return refunding.mode === "pays"
          ? Effect.succeed({ _tag: "Paid", transaction } as const)
          : Effect.fail(unreachable)
      }).pipe(Effect.flatten),
    findRefund: ({ nonce }) =>
      unlessChainIsOut(() =>
        refunds.has(nonce) ? Option.some({ _tag: "Paid", transaction: refundedBy(nonce) } as const) : Option.none()
      ),
    readTransfers: (_token, transaction) =>
      unlessChainIsOut(() => {
        const own = [...log, ...strangers].filter((transfer) => transfer.transaction === transaction)
        if (own.length === 0) return Option.none()
        return Option.some({
          isFinal: own.every((transfer) => transfer.block <= finality.block),
          transfers: own.map(({ amount, direction, wallet }, place) => ({
            transferId: `${transaction} ${place}`,
            from: direction === "received" ? wallet : REFUND_WALLET,
            to: direction === "received" ? offered.payTo : wallet,
            amount
          }))
        })
      }),
    transfers: (_token, fromBlock) =>
      unlessChainIsOut(() => ({
        transfers: log.filter((transfer) => transfer.block >= fromBlock),
        nextBlock: null
      })),
    encodeReceipt: ({ amount, ...payment }) => toHeader(JSON.stringify({ ...payment, amount: amount.toString() }))
  })

  return {
    rail,
    change: (terms) => {
      offered = { ...offered, ...terms }
    },
    script,
    transfers,
    log,
    strangers,
    finality,
    authentications: () => authentications,
    settleCalls: () => settleCalls,
    shown,
    blocksBefore,
    outage,
    useNonceOnceRead: (header) => void frontRunning.add(decode(header).nonce),
    untied,
    unsoldBelow,
    otherNetworks,
    useBeside: (header, other, hasUnconfirmed = false) => {
      const use = used.get(decode(other).nonce)
      if (use?._tag !== "Paid") throw new Error("the other authorization did not pay")
      used.set(decode(header).nonce, { ...use, hasUnconfirmed })
    },
    refunds,
    refunding,
    useNonce: (header) => transfer(decode(header)),
    end: (header, how) => {
      used.set(decode(header).nonce, how === "expired" ? { _tag: "Unused", expired: true } : cancelled)
    }
  }
}
