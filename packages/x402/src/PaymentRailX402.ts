import {
  AllowanceRequired,
  type PaymentProof,
  PaymentRail,
  type PaymentTerms,
  ProofInvalid,
  type ProviderError,
  Timestamp,
  type Token,
  Usdt
} from "@agentos/core"
import { Effect, Layer, Metric, type Scope } from "effect"
import { isBoundElsewhere, NONCE_TAG } from "./header/BoundNonce.ts"
import * as EvmChain from "./chain/EvmChain.ts"
import type { Facilitator, FacilitatorFactory, FacilitatorRequest } from "./facilitator/Facilitator.ts"
import { openingCheck, tokenCheck } from "./NetworkCheck.ts"
import { watchBalance } from "./chain/WalletBalance.ts"
import { allowanceOf, withoutApproval } from "./header/GasSponsoring.ts"
import * as PaymentHeader from "./header/PaymentHeader.ts"
import { transferMethodOf } from "./header/PaymentHeader.ts"
import { approvalText } from "./method/Approval.ts"
import { hexOf, transferOf } from "./network/AuthorizedTransfer.ts"
import {
  misconfigured,
  offer,
  type OfferedNetwork,
  type PaymentNetwork,
  requiredConfirmations
} from "./network/PaymentNetwork.ts"
import type { TransferMethod } from "./method/TransferMethod.ts"
import { transferMethod } from "./method/TransferMethods.ts"
import { advanceRefund, findRefund } from "./Refunds.ts"
import * as SmartAccount from "./chain/SmartAccount.ts"
import { findCause } from "./network/SignatureCause.ts"
import { signer as processSigner } from "./network/Signer.ts"
import { readTransaction } from "./method/TransactionTransfers.ts"
import { readTransfers } from "./chain/TransferLog.ts"

/** A network with the facilitator that submits the authorizations for it. */
export interface RailNetwork<R = never> extends PaymentNetwork {
  readonly facilitator: FacilitatorFactory<R>
}

export interface PaymentRailOptions<Network extends PaymentNetwork> {
  /** The networks and tokens in order of preference. At least one; each pair of network and token once. */
  readonly networks: ReadonlyArray<Network>
}

/**
 * Validity in seconds that an authorization must have left when it is verified: the six seconds that
 * facilitators require, plus the time until they are called.
 */
export const VALIDITY_MARGIN_SECONDS = 10

/**
 * Seconds by which a client's clock may be ahead of the server's: its authorizations then seem valid for longer
 * than allowed.
 */
export const CLOCK_TOLERANCE_SECONDS = 60

/** Amounts whose terms are kept: more than a catalog has prices. */
const TERMS_KEPT_MAX = 100

/** A network with its chain, transfer method and facilitator. */
interface Route {
  readonly offered: OfferedNetwork
  readonly chain: EvmChain.EvmChain
  readonly method: TransferMethod
  readonly facilitator: Facilitator
}

/**
 * The payment rail over x402 version 2, scheme `exact`, on EVM chains. The chain alone proves a payment,
 * never the facilitator's answer.
 *
 * Smart accounts can pay where the network's configuration accepts them; see `SmartAccount`.
 *
 * Building the layer checks every network against its chain and its facilitator; see `NetworkCheck`.
 */
export const layer = <R = never>(
  options: PaymentRailOptions<RailNetwork<R>>
): Layer.Layer<PaymentRail, ProviderError, Exclude<R, Scope.Scope>> =>
  Layer.effect(
    PaymentRail,
    Effect.gen(function* () {
      const routes = yield* openRoutes(options, ({ facilitator }, offered) => facilitator(offered))
      yield* Effect.forEach(
        routes.values(),
        Effect.fnUntraced(function* ({ chain, facilitator, method, offered }) {
          yield* openingCheck(offered, chain, method, facilitator)
          const [wallet] = offered.refundWallets
          if (wallet === undefined) return
          const tokens = Effect.map(chain.balanceOf(wallet), (units) =>
            Usdt.toDecimal(units / offered.unitsPerPriceUnit)
          )
          const gauge = Metric.gauge("agentos_refund_wallet_usdt", {
            description: "Balance of the refund wallet, in whole tokens.",
            attributes: { network: offered.network, asset: offered.asset }
          })
          yield* watchBalance(gauge, tokens)
        }),
        { concurrency: "unbounded", discard: true }
      )
      return make(routes)
    })
  )

/** The same for a process that only reads the chain: it calls no facilitator, and submits nothing. */
export const layerReading = (options: PaymentRailOptions<PaymentNetwork>): Layer.Layer<PaymentRail, ProviderError> =>
  Layer.effect(
    PaymentRail,
    Effect.map(
      openRoutes(options, () => Effect.succeed(noFacilitator)),
      make
    )
  )

/** Makes the routes of the networks and checks each against its chain. */
const openRoutes = Effect.fnUntraced(function* <Network extends PaymentNetwork, R>(
  { networks }: PaymentRailOptions<Network>,
  facilitatorOf: (network: Network, offered: OfferedNetwork) => Effect.Effect<Facilitator, never, R>
): Effect.fn.Return<ReadonlyMap<string, Route>, ProviderError, R> {
  const routes = new Map<string, Route>()
  for (const network of networks) {
    const offered = yield* offer(network)
    const key = routeKey(offered.network, offered.asset)
    if (routes.has(key)) return yield* misconfigured(`Payment network ${offered.network} is configured twice.`)
    const chain = EvmChain.make(offered)
    const method = transferMethod(offered, chain)
    routes.set(key, { offered, chain, method, facilitator: yield* facilitatorOf(network, offered) })
  }
  if (routes.size === 0) return yield* misconfigured("No payment network is configured.")
  yield* Effect.forEach(routes.values(), ({ chain, method, offered }) => tokenCheck(offered, chain, method), {
    concurrency: "unbounded",
    discard: true
  })
  return routes
})

const ONLY_READS = "This process only reads the chain: it submits nothing."

const noFacilitator: Facilitator = {
  ready: Effect.fail(misconfigured(ONLY_READS)),
  settle: () => Effect.succeed({ _tag: "Unknown", message: ONLY_READS }),
  supports: () => Effect.succeed({ exact: false, gasSponsoring: [] })
}

const routeKey = (network: string, asset: string): string => `${network} ${asset.toLowerCase()}`

const make = (routes: ReadonlyMap<string, Route>): PaymentRail["Service"] => {
  const findRoute = (network: string, asset: string) => routes.get(routeKey(network, asset))
  /** Returns the route of a token in an operation, which may be older than the configuration. */
  const tokenRoute = ({ asset, network }: Token): Effect.Effect<Route, ProviderError> => {
    const route = findRoute(network, asset)
    return route === undefined
      ? Effect.fail(misconfigured(`The payment network ${network} is no longer configured.`))
      : Effect.succeed(route)
  }
  /** Returns the route of a payment: of its token, by the requirements that it accepted. */
  const routeOf = (token: Token, accepted: Requirements): Effect.Effect<Route, ProviderError> =>
    Effect.filterOrFail(
      tokenRoute(token),
      ({ method }) => method.name === transferMethodOf(accepted),
      ({ method, offered }) =>
        misconfigured(
          `The payment network ${offered.network} has transferMethod ${method.name} now, and this payment was authorized by ` +
            `${String(transferMethodOf(accepted))}. Configure that one until the operation has ended.`
        )
    )

  /** By amount: the catalog has a few prices. */
  const known = new Map<bigint, ReadonlyArray<PaymentTerms>>()
  const terms = (amount: bigint): ReadonlyArray<PaymentTerms> => {
    const before = known.get(amount)
    if (before !== undefined) return before
    const made = Array.from(routes.values(), (route) => termsOf(route, amount))
    if (known.size < TERMS_KEPT_MAX) known.set(amount, made)
    return made
  }

  /** By amount: the last answer that left out a network. */
  const partial = new Map<bigint, ReadonlyArray<PaymentTerms>>()
  const offers = (amount: bigint): ReadonlyArray<PaymentTerms> => {
    const all = terms(amount)
    const sold = all.filter(({ asset, network }) => findRoute(network, asset)?.facilitator.sells?.(amount) ?? true)
    if (sold.length === all.length) return all
    const before = partial.get(amount)
    if (before?.length === sold.length && before.every((one, place) => one === sold[place])) return before
    if (partial.size < TERMS_KEPT_MAX) partial.set(amount, sold)
    return sold
  }

  return PaymentRail.of({
    terms,
    offers,
    challengeEncoder: PaymentHeader.challengeEncoder,
    decodeProof: PaymentHeader.decodeProof,
    isBoundElsewhere: ({ nonce }, { extra }, url) => isBoundElsewhere(nonce, extra["binding"], url),
    authenticate: Effect.fnUntraced(function* (proof) {
      const route = findRoute(proof.network, proof.asset)
      if (route === undefined || route.method.name !== transferMethodOf(proof.accepted))
        return yield* refuse(NOT_ACCEPTED)
      const { method, offered } = route
      const transfer = transferOf(proof)
      const [payer, digest] = [transfer.from, method.digest(transfer)]
      const signature = hexOf(PaymentHeader.signatureOf(proof))
      const signer = yield* processSigner
      if (signer.recoverSigner(digest, signature) === payer) return
      const cause = findCause(signer, {
        payer,
        digest,
        signature,
        method: method.name,
        name: offered.config.name,
        garbledDigest: method.garbledDigest(transfer),
        bareDigest: method.bareDigest(transfer)
      })
      if (cause !== undefined) return yield* refuse(cause)
      const formFlaw = offered.config.smartAccounts === true ? method.findFormFlaw(signature) : undefined
      const flaw = formFlaw ?? (yield* SmartAccount.findFlaw(route, { account: payer, digest, signature }))
      if (flaw !== undefined) return yield* refuse(flaw)
    }),
    verify: Effect.fnUntraced(function* (proof, terms) {
      const flaw = flawOf(proof, terms, Math.floor((yield* Timestamp.now) / Timestamp.SECOND))
      if (flaw !== undefined) return yield* refuse(flaw)
      const { chain, facilitator, method, offered } = yield* routeOf(proof, proof.accepted)
      const payer = hexOf(proof.payer)
      const brought = method.name === "permit2" ? allowanceOf(proof) : undefined
      const isAccepted = brought !== undefined && brought.kind === offered.config.gasSponsoring
      yield* facilitator.ready
      const [balance, approval] = yield* Effect.all(
        [chain.balanceOf(payer), method.findMissingApproval(payer, terms.amount)],
        { concurrency: 2 }
      )
      if (balance < terms.amount) {
        const { config, network, unitsPerPriceUnit } = offered
        const [held, price] = [balance, terms.amount].map((units) => Usdt.toDecimal(units / unitsPerPriceUnit))
        return yield* new ProofInvalid({
          message: `The wallet ${proof.payer} has ${held} ${config.name}, and the price is ${price} ${config.name} on ${network}.`,
          remedy: FUND_THE_WALLET
        })
      }
      if (approval !== undefined && isAccepted) {
        const allowanceFlaw = yield* method.findAllowanceFlaw(brought, transferOf(proof))
        if (allowanceFlaw !== undefined) return yield* refuse(allowanceFlaw)
      } else if (approval !== undefined) {
        // Stock clients sign an approval for every token by Permit2, if the challenge has the extension for one of them.
        const { data, to } = approval
        return yield* new AllowanceRequired({
          message: approvalText(proof.payer, offered, approval),
          transaction: { network: offered.network, to, data }
        })
      } else if (brought !== undefined && !isAccepted) return yield* refuse(NOT_SPONSORED)
    }),
    simulate: Effect.fnUntraced(function* (proof, terms) {
      const { method } = yield* routeOf(terms, terms)
      const flaw = yield* method.simulate(
        transferOf({ ...proof, payTo: terms.payTo, value: terms.amount }),
        hexOf(PaymentHeader.signatureOf(proof)),
        method.name === "permit2" ? allowanceOf(proof) : undefined
      )
      if (flaw !== undefined) return yield* refuse(flaw)
    }),
    readFunds: Effect.fnUntraced(function* (token, wallet) {
      const { chain, method } = yield* tokenRoute(token)
      // One request.
      const [balance, allowed] = yield* Effect.all(
        [chain.balanceOf(hexOf(wallet)), method.readAllowance(hexOf(wallet))],
        { concurrency: 2 }
      )
      return { balance, ...allowed }
    }),
    readNonce: Effect.fnUntraced(function* (proof) {
      const { chain, method, offered } = yield* routeOf(proof, proof.accepted)
      // One request. Behind a URL with several nodes, the block may be newer than the state: a use between them then counts as
      // one before this reading.
      const [latest, used] = yield* Effect.all(
        [chain.latestBlock, method.isUsed(hexOf(proof.payer), hexOf(proof.nonce), "latest")],
        { concurrency: 2 }
      )
      // A reorganization can remove the newest blocks, and a block with our payment can then replace them.
      const depth = BigInt(requiredConfirmations(offered, proof.value))
      return { used, block: latest > depth ? latest - depth : 0n }
    }),
    settle: (proof, terms) =>
      Effect.matchEffect(routeOf(terms, terms), {
        onFailure: ({ message }) => Effect.succeed({ _tag: "Unknown" as const, message }),
        onSuccess: ({ facilitator, method }) =>
          Effect.matchEffect(sendablePayload(method, proof), {
            onFailure: ({ message }) => Effect.succeed({ _tag: "Unknown" as const, message }),
            onSuccess: (payload) => facilitator.settle(requestOf({ ...proof, payload }, terms))
          })
      }),
    findSettlement: Effect.fnUntraced(function* (proof, terms, afterBlock, transaction) {
      const { method, offered } = yield* routeOf(terms, terms)
      const confirmations = requiredConfirmations(offered, terms.amount)
      return yield* method.findSettlement({ proof, terms, afterBlock, transaction, confirmations })
    }),
    blockBefore: Effect.fnUntraced(function* (token, moment) {
      const { chain } = yield* tokenRoute(token)
      return yield* chain.blockBefore(BigInt(Math.floor(moment / Timestamp.SECOND)))
    }),
    listsTransfers: true,
    canRefund: ({ asset, network }) => findRoute(network, asset)?.offered.config.refund !== undefined,
    refund: Effect.fnUntraced(function* (refund) {
      const { facilitator, ...route } = yield* routeOf(refund.terms, refund.terms)
      const settle = (proof: PaymentProof, terms: PaymentTerms) => facilitator.settle(requestOf(proof, terms))
      return yield* advanceRefund({ ...route, settle }, refund)
    }),
    findRefund: (refund) => Effect.flatMap(routeOf(refund.terms, refund.terms), (route) => findRefund(route, refund)),
    readTransfers: Effect.fnUntraced(function* (token, transaction) {
      const { chain, offered } = yield* tokenRoute(token)
      return yield* readTransaction(chain, offered, hexOf(transaction))
    }),
    transfers: Effect.fnUntraced(function* (token, fromBlock) {
      const { chain, offered } = yield* tokenRoute(token)
      const onNetwork = [...routes.values()].filter((route) => route.offered.network === offered.network)
      const wallets = onNetwork.flatMap((route) => [...route.offered.recipients, ...route.offered.refundWallets])
      return yield* readTransfers(chain, offered, new Set(wallets), fromBlock)
    }),
    encodeReceipt: PaymentHeader.encodeReceipt
  })
}

/** The part of payment requirements that names the transfer method. */
type Requirements = Parameters<typeof transferMethodOf>[0]

const NOT_ACCEPTED =
  "This server does not accept payments in this token on this network, or no longer. It has not submitted the payment. " +
  "Request a new challenge."

const NOT_SPONSORED =
  "The payment brings an allowance, which this server does not submit for this token, or no longer. It has not submitted the payment. " +
  "Request a new challenge."

const FUND_THE_WALLET =
  "Fund it, then repeat the identical request. If the payment has expired by then, sign a new one for the challenge in the PAYMENT-REQUIRED header."

const refuse = (message: string): Effect.Effect<never, ProofInvalid> => Effect.fail(new ProofInvalid({ message }))

/**
 * Returns the terms of an amount in base units of a price. `extra` has the fields of the transfer method, the token's decimals
 * (not in the specification: @dexterai/x402 refuses tokens without them), its symbol if it is not USDT, the tag with which a client may bind its nonce to
 * the challenge (see `BoundNonce`), and the kinds of accepted signatures.
 */
const termsOf = ({ method, offered }: Route, amount: bigint): PaymentTerms => ({
  scheme: "exact",
  network: offered.network,
  asset: offered.asset,
  amount: amount * offered.unitsPerPriceUnit,
  payTo: offered.payTo,
  maxTimeoutSeconds: offered.config.maxTimeoutSeconds,
  extra: {
    ...method.extra,
    decimals: offered.config.decimals,
    ...symbolOf(offered.config),
    nonceTag: NONCE_TAG,
    signatures: SmartAccount.signaturesOf(offered)
  }
})

/** USDT is not named: the header has little room, and clients know its contracts. */
const symbolOf = ({ symbol = Usdt.ASSET }: PaymentNetwork): { readonly symbol?: string } =>
  symbol === Usdt.ASSET ? {} : { symbol }

/**
 * Returns the payload of a proof, without an approval that a facilitator could not send, or should not: the chain has it by now, or
 * `verify` found the allowance without it, and it could be anything.
 */
const sendablePayload = Effect.fnUntraced(function* (
  method: TransferMethod,
  proof: PaymentProof
): Effect.fn.Return<string, ProviderError> {
  const { payer, payload, value } = proof
  const brought = method.name === "permit2" ? allowanceOf(proof) : undefined
  if (brought?.kind !== "erc20Approval") return payload
  const isMissing = (yield* method.findMissingApproval(hexOf(payer), value)) !== undefined
  const isSendable = isMissing && (yield* method.findAllowanceFlaw(brought, transferOf(proof))) === undefined
  return isSendable ? payload : withoutApproval(payload)
})

const requestOf = (proof: PaymentProof, terms: PaymentTerms): FacilitatorRequest => ({
  payload: proof.payload,
  requirements: JSON.stringify(PaymentHeader.requirementsOf(terms))
})

/** Returns why an authorization does not match these terms at this moment (unix seconds), or undefined if it does. */
const flawOf = (proof: PaymentProof, terms: PaymentTerms, now: number): string | undefined => {
  const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
  if (proof.network !== terms.network) return "The payment is for a network that the challenge does not offer."
  if (!same(proof.asset, terms.asset)) return "The payment is in a token that the challenge does not offer."
  if (proof.value !== terms.amount) return "The amount of the payment is not that of the challenge."
  if (!same(proof.payTo, terms.payTo)) return "The recipient of the payment is not that of the challenge."
  if (proof.validAfter > now) return "The payment is not valid yet. Check the clock of the machine that signed it."
  if (proof.validBefore <= now + VALIDITY_MARGIN_SECONDS) {
    return `The payment has expired or is about to expire. It must be valid for more than ${VALIDITY_MARGIN_SECONDS} s.`
  }
  if (proof.validBefore > now + terms.maxTimeoutSeconds + CLOCK_TOLERANCE_SECONDS) {
    return `The payment is valid for longer than ${terms.maxTimeoutSeconds} s. Check the clock of the machine that signed it.`
  }
  return undefined
}
