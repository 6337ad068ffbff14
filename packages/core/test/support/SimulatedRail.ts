import {
  type ChainTransfer,
  type PaymentProof,
  PaymentRail,
  type PaymentTerms,
  ProofInvalid,
  ProofMalformed,
  ProviderError,
  type Refund,
  type RefundProgress,
  RequestBinding,
  type SettleAnswer,
  type Settlement
} from "@agentos/core"
import { Effect, Schema } from "effect"
import { CONFIRMATIONS, type Authorization, type MinedTransaction } from "./SimulatedChain.ts"
import { type Links, now, type SimulatedWorld } from "./SimulatedWorld.ts"

export const PAY_TO = "0x00000000000000000000000000000000000000b2"
export const REFUND_WALLET = "0x00000000000000000000000000000000000000c3"
/** How long an authorization may be valid: shorter than any real one, so that tests can wait for its end. */
export const VALID_SECONDS = 20
/** How long an authorization must still be valid when it is verified. */
const MARGIN_SECONDS = 6
const REFUND_VALID_SECONDS = 600

const TERMS = {
  scheme: "exact",
  network: "eip155:402402",
  asset: "0x00000000000000000000000000000000000000a1",
  payTo: PAY_TO,
  maxTimeoutSeconds: VALID_SECONDS,
  extra: { name: "USDT0", version: "1" }
} as const

const Accepted = Schema.Struct({
  scheme: Schema.String,
  network: Schema.String,
  asset: Schema.String,
  amount: Schema.String,
  payTo: Schema.String,
  maxTimeoutSeconds: Schema.Int,
  extra: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Int]))
})
const Challenge = Schema.fromJsonString(Schema.Array(Accepted))
const Payment = Schema.fromJsonString(
  Schema.Struct({ payer: Schema.String, nonce: Schema.String, validBefore: Schema.Int, accepted: Accepted })
)

/**
 * Returns the header that accepts a challenge. It is not signed: payer, nonce and end of an authorization are enough.
 */
export const pay = (
  challenge: string,
  { nonce, payer, validBefore }: { readonly payer: string; readonly nonce: string; readonly validBefore: number }
): string => {
  const [accepted] = Schema.decodeSync(Challenge)(challenge)
  if (accepted === undefined) throw new Error("the challenge offers nothing")
  return Schema.encodeSync(Payment)({ payer, nonce, validBefore, accepted })
}

/** Parses a payment header. Throws if it is not valid. */
export const readProof = (header: string): PaymentProof => {
  const { accepted, nonce, payer, validBefore } = Schema.decodeSync(Payment)(header)
  const { asset, network, payTo } = accepted
  const value = BigInt(accepted.amount)
  // Any value that distinguishes headers can serve as the digest here.
  return {
    digest: header,
    network,
    asset,
    payer,
    payTo,
    value,
    nonce,
    validAfter: 0,
    validBefore,
    accepted,
    payload: "{}"
  }
}

/** Returns the authorization that the payer of a proof signed. */
export const authorizationOf = (proof: PaymentProof): Authorization => ({
  from: proof.payer,
  to: proof.payTo,
  value: proof.value,
  nonce: proof.nonce,
  validAfter: proof.validAfter,
  validBefore: proof.validBefore
})

const failed = (reason: ProviderError["reason"], message: string): ProviderError =>
  new ProviderError({ provider: "simulated", reason, message })
const unreachable = (who: string) => failed("Temporary", `The ${who} can't be reached`)
const unknown = (message: string): SettleAnswer => ({ _tag: "Unknown", message })

/**
 * Returns the settlement that a mined transaction means for a payment with these terms; see
 * `PaymentRail.findSettlement`.
 */
export const judge = (use: MinedTransaction, terms: PaymentTerms, afterBlock: bigint): Settlement => {
  const { authorization, kind } = use.call
  const otherwise = (message: string): Settlement => ({ _tag: "UsedOtherwise", message, block: BigInt(use.block) })
  if (BigInt(use.block) <= afterBlock) return { _tag: "UsedOtherwise", message: "used before" }
  if (kind === "cancel") return otherwise("cancelled by its owner")
  return authorization.to === terms.payTo && authorization.value === terms.amount
    ? { _tag: "Paid", transaction: use.hash, block: BigInt(use.block) }
    : otherwise("another transfer")
}

/**
 * Returns the same where the chain shows only that the authorization was used in a block: each transfer in it that the
 * authorization could have made is a candidate, the latest first.
 */
export const judgeUntied = (
  use: MinedTransaction,
  transfers: ReadonlyArray<MinedTransaction>,
  terms: PaymentTerms,
  afterBlock: bigint
): Settlement => {
  const block = BigInt(use.block)
  if (block <= afterBlock) return { _tag: "UsedOtherwise", message: "used before" }
  const candidates = equalTransfers(use, transfers, terms)
    .toReversed()
    .map(({ hash }) => ({ transferId: hash, transaction: hash }))
  return candidates[0] === undefined
    ? { _tag: "UsedOtherwise", message: "no transfer", block }
    : { _tag: "Paid", transaction: candidates[0].transaction, block, candidates }
}

/** Returns the transfers beside the use of an authorization that pay the same terms from the same wallet. */
export const equalTransfers = (
  { block, call }: MinedTransaction,
  transfers: ReadonlyArray<MinedTransaction>,
  terms: PaymentTerms
): ReadonlyArray<MinedTransaction> =>
  transfers.filter(
    (one) =>
      one.block === block &&
      one.call.authorization.from === call.authorization.from &&
      one.call.authorization.to === terms.payTo &&
      one.call.authorization.value === terms.amount
  )

/** The facilitator part of the rail, as a server with these links reaches it. */
const facilitatorOf = (world: SimulatedWorld, links: Links) => {
  const { chain } = world

  /** Waits until a transaction is mined, as facilitators do, and returns its outcome. */
  const watch = Effect.fnUntraced(function* (hash: string) {
    for (let looks = 0; looks < 8 && chain.isWaiting(hash); looks++) {
      yield* Effect.sleep(1_005 - ((yield* now) % 1_000))
      chain.head(yield* now)
    }
    const mined = chain.find(yield* now, hash)
    return mined === undefined ? unknown("transaction_failed") : ({ _tag: "Accepted", transaction: hash } as const)
  })

  const settle = Effect.fnUntraced(function* (proof: PaymentProof): Effect.fn.Return<SettleAnswer> {
    const call = { kind: "transfer", authorization: authorizationOf(proof) } as const
    const mode = world.settleFault.take() ?? "settle"
    world.settlements.push({ nonce: proof.nonce, mode })
    switch (mode) {
      case "slow":
        yield* Effect.sleep("5 seconds")
        return yield* watch(chain.send(yield* now, call))
      case "settle":
        return yield* watch(chain.send(yield* now, call))
      case "lose the answer":
        chain.send(yield* now, call)
        return unknown("connection reset")
      case "fail before":
        return unknown("503")
      case "hang before":
        return yield* Effect.as(world.settleFault.hang, unknown("time-out"))
      case "hang after":
        chain.send(yield* now, call)
        return yield* Effect.as(world.settleFault.hang, unknown("time-out"))
      case "refuse":
        return { _tag: "Refused", message: "the facilitator refuses" }
      case "refuse and settle":
        chain.send(yield* now, call)
        return { _tag: "Refused", message: "the facilitator lies" }
      case "settle and refuse":
        chain.send(yield* now, call)
        yield* Effect.sleep("1.2 seconds")
        return { _tag: "Refused", message: "the facilitator lies" }
      case "refuse and settle later":
        chain.send(yield* now, call, (yield* now) + 6_000)
        return { _tag: "Refused", message: "the facilitator lies" }
      case "accept and do nothing":
        return { _tag: "Accepted", transaction: `0x${"f".repeat(64)}` }
    }
  })

  const call = Effect.fnUntraced(function* (proof: PaymentProof) {
    yield* Effect.sleep(20)
    if (links.facilitator) return unknown("connection refused")
    world.watcher.settling(proof, yield* now)
    const answer = yield* settle(proof)
    return links.facilitator ? unknown("connection reset") : answer
  })

  return {
    settle: (proof: PaymentProof) => world.alone(`settlement of ${proof.nonce}`, links, call(proof))
  }
}

/** The refund part of the rail: advances a refund as the port specifies, unless a fault is set. */
const refunderOf = (world: SimulatedWorld, links: Links) =>
  Effect.fnUntraced(function* (refund: Refund): Effect.fn.Return<RefundProgress, ProviderError> {
    const { chain } = world
    const waiting = (message: string): RefundProgress => ({ _tag: "Pending", message })
    const {
      nonce,
      proof: { payer },
      terms,
      transaction
    } = refund
    yield* Effect.sleep(10)
    if (links.chain) return yield* unreachable("chain")
    world.watcher.refunding(refund, yield* now)
    const done = chain.use(yield* now, { from: REFUND_WALLET, nonce })
    if (done !== undefined) {
      return chain.isConfirmed(yield* now, done)
        ? { _tag: "Paid", transaction: done.hash }
        : waiting("the transfer back is not confirmed")
    }
    if (!world.hasRefundWallet) return yield* failed("Misconfigured", "There is no refund wallet")
    const payment = chain.find(yield* now, transaction)
    if (payment === undefined || !chain.isFinal(yield* now, payment)) return waiting("the payment is not final")
    if (links.facilitator) return yield* unreachable("facilitator")
    const validBefore = Math.floor((yield* now) / 1_000) + REFUND_VALID_SECONDS
    const value = terms.amount
    if (chain.balance(yield* now, REFUND_WALLET) < value)
      return yield* failed("Temporary", "The refund wallet is empty")
    const authorization = { from: REFUND_WALLET, to: payer, value, nonce, validAfter: 0, validBefore }
    const send = Effect.map(now, (at) => chain.send(at, { kind: "transfer", authorization }))
    switch (world.refundFault.take()) {
      case "fail before":
        return yield* failed("Temporary", "503")
      case "lose the answer":
        yield* send
        return yield* failed("Unknown", "connection reset")
      case "hang after":
        yield* Effect.andThen(send, world.refundFault.hang)
        return yield* failed("Unknown", "time-out")
      case undefined:
        yield* send
        return waiting("the transfer back is on its way")
    }
  })

/** The payment rail of one server: one token on one chain, reached through the links of the server. */
export const make = (world: SimulatedWorld, links: Links): PaymentRail["Service"] => {
  const { chain } = world
  const { settle } = facilitatorOf(world, links)
  const payBack = refunderOf(world, links)

  const readChain = <A>(read: (at: number) => A): Effect.Effect<A, ProviderError> =>
    Effect.flatMap(Effect.andThen(Effect.sleep(5), now), (at) =>
      links.chain ? Effect.fail(unreachable("chain")) : Effect.sync(() => read(at))
    )

  return PaymentRail.of({
    terms: (amount): ReadonlyArray<PaymentTerms> => [{ ...TERMS, amount }],
    offers: (amount) => [{ ...TERMS, amount }],
    challengeEncoder:
      ({ accepts }) =>
      (bindings) =>
        Schema.encodeSync(Challenge)(
          accepts.map((terms, place) => ({
            ...RequestBinding.boundTerms(terms, bindings[place]!),
            amount: terms.amount.toString()
          }))
        ),
    decodeProof: (header) =>
      Effect.try({ try: () => readProof(header), catch: () => new ProofMalformed({ message: "This is no payment" }) }),
    isBoundElsewhere: () => false,
    authenticate: () => Effect.void,
    verify: Effect.fnUntraced(function* (proof): Effect.fn.Return<void, ProofInvalid | ProviderError> {
      yield* Effect.sleep(10)
      const mode = world.verifyFault.take()
      if (links.chain || mode === "down") return yield* unreachable("chain")
      const refuse = (message: string) => new ProofInvalid({ message })
      if (mode === "refuse") return yield* refuse("refused without a reason")
      if (proof.validBefore <= (yield* now) / 1_000 + MARGIN_SECONDS) return yield* refuse("about to expire")
      if (mode === "blind") return
      if (chain.balance(yield* now, proof.payer) < proof.value) return yield* refuse("too little balance")
    }),
    simulate: Effect.fnUntraced(function* (proof): Effect.fn.Return<void, ProofInvalid | ProviderError> {
      yield* Effect.sleep(10)
      if (links.chain) return yield* unreachable("chain")
      const at = yield* now
      world.watcher.simulating(proof, at)
      const mode = world.simulateFault.take()
      if (mode === "down") return yield* unreachable("chain")
      const authorization = authorizationOf(proof)
      const fails =
        mode === "refuse" ||
        chain.use(at, authorization) !== undefined ||
        chain.balance(at, proof.payer) < proof.value ||
        chain.head(at) >= proof.validBefore
      if (!fails) return
      world.failedSimulations.add(proof.nonce)
      return yield* new ProofInvalid({ message: "the transfer would fail" })
    }),
    // The number of a block is its time in unix seconds.
    blockBefore: (_token, moment) =>
      readChain((at) => BigInt(Math.max(0, Math.min(chain.head(at), Math.ceil(moment / 1_000) - 1)))),
    readFunds: (_token, wallet) => readChain((at) => ({ balance: chain.balance(at, wallet), allowance: null })),
    // No block up to this one can be replaced, so a later payment is in a later block.
    readNonce: (proof) =>
      readChain((at) => ({
        used: chain.use(at, authorizationOf(proof)) !== undefined,
        block: BigInt(chain.head(at) - CONFIRMATIONS)
      })),
    settle,
    findSettlement: (proof, terms, afterBlock) =>
      readChain((at): Settlement => {
        const use = chain.use(at, authorizationOf(proof))
        if (use === undefined) return { _tag: "Unused", expired: chain.finalized(at) > proof.validBefore }
        if (!chain.isConfirmed(at, use)) return { _tag: "Unsettled" }
        return world.tiesTransfers
          ? judge(use, terms, afterBlock)
          : judgeUntied(use, chain.transfers(at), terms, afterBlock)
      }),
    findRefund: () => Effect.succeedNone,
    readTransfers: () => Effect.succeedNone,
    listsTransfers: true,
    canRefund: () => world.hasRefundWallet,
    refund: (refund) => world.alone(`refund ${refund.nonce}`, links, payBack(refund)),
    transfers: (_token, fromBlock) =>
      readChain((at) => ({
        nextBlock: null,
        transfers: chain.transfers(at).flatMap(({ block, call: { authorization }, hash }): Array<ChainTransfer> => {
          const { from, to, value } = authorization
          const own = { transaction: hash, block: BigInt(block), amount: value }
          if (BigInt(block) < fromBlock) return []
          if (to === PAY_TO) return [{ ...own, direction: "received", wallet: from }]
          return from === REFUND_WALLET ? [{ ...own, direction: "refunded", wallet: to }] : []
        })
      })),
    encodeReceipt: ({ transaction }) => `receipt ${transaction}`
  })
}
