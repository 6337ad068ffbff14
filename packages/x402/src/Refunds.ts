import { createHash } from "node:crypto"
import {
  type PaymentProof,
  type PaymentTerms,
  type ProviderError,
  type Refund,
  type RefundProgress,
  type SettleAnswer,
  type Settlement,
  Timestamp
} from "@agentos/core"
import { Duration, Effect, Option, Redacted, Schedule } from "effect"
import { type Address, getAddress, type Hex } from "viem"
import { type EvmChain, LOG_QUESTIONS_MAX } from "./chain/EvmChain.ts"
import { requirementsOf, signatureOf } from "./header/PaymentHeader.ts"
import { misconfigured, type OfferedNetwork, requiredConfirmations } from "./network/PaymentNetwork.ts"
import { approvalText } from "./method/Approval.ts"
import type { TransferMethod } from "./method/TransferMethod.ts"
import { hexOf, transferOf } from "./network/AuthorizedTransfer.ts"
import { signer } from "./network/Signer.ts"

/** The network of a refund, and the function that submits the transfers that the refund wallet signs. */
export interface RefundRoute {
  readonly offered: OfferedNetwork
  readonly chain: EvmChain
  readonly method: TransferMethod
  readonly settle: (proof: PaymentProof, terms: PaymentTerms) => Effect.Effect<SettleAnswer>
}

/**
 * Within one such period, in seconds, every server signs the same bytes, so that a facilitator recognizes a
 * repeated refund. A signature is valid until the end of the next period.
 */
export const AUTHORIZATION_STRETCH_SECONDS = 600

/** Time limit for the chain to show a transfer that the facilitator reported. */
const CONFIRM_WITHIN = Duration.seconds(3)

/**
 * Advances a refund by one step from any state. It reads the chain first, each time: it signs and submits the
 * refund only if the chain shows the nonce unused and the payment final. However often and on however many
 * servers it runs, the chain accepts the nonce once.
 *
 * A payment that a reorganization removed is not final, and is never refunded.
 */
export const advanceRefund = Effect.fnUntraced(function* (
  route: RefundRoute,
  refund: Refund
): Effect.fn.Return<RefundProgress, ProviderError> {
  const { config, refundWallets } = route.offered
  const [wallet, ...formerWallets] = refundWallets
  if (wallet === undefined || config.refund === undefined) {
    return yield* misconfigured(`${config.network} has no refund wallet. The refund is still due.`)
  }

  const made = yield* findTransfer(route, refund, wallet)
  // If a former wallet used its nonce for something else, that does not matter: it cannot pay this refund any more.
  const madeBefore = yield* Effect.forEach(formerWallets, (former) => findTransfer(route, refund, former))
  const progress = progressOf([made, ...madeBefore])
  if (Option.isSome(progress)) return progress.value
  if (made._tag === "UsedOtherwise") return yield* usedElsewhere(route.offered, wallet)

  const obstacle = yield* findObstacle(route, refund)
  if (obstacle !== undefined) return pending(obstacle)
  const balance = yield* route.chain.balanceOf(wallet)
  if (balance < refund.terms.amount) {
    const reason = `It holds ${balance} base units of the token, and the refund needs ${refund.terms.amount}.`
    return yield* emptyWallet(route.offered, wallet, reason)
  }
  const approval = yield* route.method.findMissingApproval(wallet, refund.terms.amount)
  if (approval !== undefined) {
    return yield* misconfigured(
      `The refund can't be paid. ${approvalText(wallet, route.offered, approval)} The refund is still due and will be retried.`
    )
  }
  return yield* submit(route, refund, wallet, Redacted.value(config.refund.privateKey))
})

/** Returns the progress of a refund as the chain shows it; none if no wallet has used the nonce. Submits nothing. */
export const findRefund = (
  route: Omit<RefundRoute, "settle">,
  refund: Refund
): Effect.Effect<Option.Option<RefundProgress>, ProviderError> =>
  Effect.map(
    Effect.forEach(route.offered.refundWallets, (wallet) => findTransfer(route, refund, wallet)),
    progressOf
  )

const progressOf = (found: ReadonlyArray<Settlement>): Option.Option<RefundProgress> => {
  const made = found.find(({ _tag }) => _tag === "Paid")
  if (made?._tag === "Paid") return Option.some(paid(made))
  return found.some(({ _tag }) => _tag === "Unsettled") ? Option.some(pending(ON_ITS_WAY)) : Option.none()
}

const paid = ({ transaction }: { readonly transaction: string }): RefundProgress => ({ _tag: "Paid", transaction })

const pending = (message: string): RefundProgress => ({ _tag: "Pending", message })

const ON_ITS_WAY =
  "The refund was submitted, and the chain does not show it with enough confirmations yet. If this does not " +
  `change, the transfer lies further back than ${LOG_QUESTIONS_MAX} times logBlocksMax blocks.`

const usedElsewhere = ({ config }: OfferedNetwork, wallet: Address): ProviderError =>
  misconfigured(
    `The refund wallet ${wallet} on ${config.network} has spent the nonce of this refund on something else, so its key ` +
      "is in use elsewhere. Nothing was refunded. Configure another refund wallet, and name this one in formerWallets."
  )

const emptyWallet = ({ config }: OfferedNetwork, wallet: Address, reason: string): ProviderError =>
  misconfigured(
    `The refund wallet ${wallet} on ${config.network} cannot pay a refund. ${reason} Send the token to it. ` +
      "The refund is still due and will be retried."
  )

/** Returns the refund transfer of a wallet, if it was made. If `transaction` is given, it is checked first. */
const findTransfer = (
  { method, offered }: Pick<RefundRoute, "method" | "offered">,
  { afterBlock, nonce, proof, terms }: Refund,
  wallet: Address,
  transaction?: string
): Effect.Effect<Settlement, ProviderError> =>
  method.findOwnTransfer({
    from: wallet,
    to: proof.payer,
    value: terms.amount,
    nonce: hexOf(nonce),
    afterBlock,
    transaction,
    confirmations: requiredConfirmations(offered, terms.amount)
  })

/** Returns why the payment cannot be refunded yet, or undefined if it is in a finalized block. */
const findObstacle = Effect.fnUntraced(function* (
  { chain, method }: RefundRoute,
  refund: Refund
): Effect.fn.Return<string | undefined, ProviderError> {
  const finalized = yield* chain.finalizedBlock
  const block = yield* method.findPayment(refund)
  if (Option.isNone(block))
    return "The chain does not show the payment now. It will be refunded when the chain shows it again."
  return block.value > finalized.number ? "The payment is not final yet. It will be refunded when it is." : undefined
})

/** Signs the refund, simulates it by Permit2, has the facilitator submit it like any payment, and checks the chain. */
const submit = Effect.fnUntraced(function* (
  route: RefundRoute,
  refund: Refund,
  wallet: Address,
  privateKey: Hex
): Effect.fn.Return<RefundProgress, ProviderError> {
  const now = Math.floor((yield* Timestamp.now) / Timestamp.SECOND)
  const { proof, terms } = yield* authorize(route, refund, wallet, privateKey, now)
  const { method } = route
  if (method.name === "permit2") {
    // The token may keep a fee, and the payer is owed all of its payment.
    const flaw = yield* method.simulate(transferOf(proof), hexOf(signatureOf(proof)))
    if (flaw !== undefined) return pending(`The refund is still due. ${flaw}`)
  }
  const answer = yield* route.settle(proof, terms)
  const transaction = answer._tag === "Accepted" ? answer.transaction : undefined
  const found = yield* findTransfer(route, refund, wallet, transaction).pipe(
    Effect.filterOrFail((settlement) => settlement._tag === "Paid"),
    Effect.retry({
      while: () => answer._tag === "Accepted",
      schedule: Schedule.exponential("50 millis", 1.5).pipe(Schedule.upTo({ duration: CONFIRM_WITHIN }))
    }),
    // The refund was submitted: if the chain cannot be read now, the next step reads it first.
    Effect.option
  )
  if (Option.isSome(found)) return paid(found.value)
  if (answer._tag === "Refused" && /insufficient_(funds|balance)/.test(answer.message)) {
    return yield* emptyWallet(route.offered, wallet, "The facilitator reports insufficient funds.")
  }
  if (answer._tag === "Accepted") return pending(ON_ITS_WAY)
  const failure = answer._tag === "Refused" ? "Rejected" : "Unknown"
  return { _tag: "Pending", message: `The refund is still due. ${answer.message}`, failure }
})

/** Makes an ordinary payment from the refund wallet to the payer, as if requested at `now` (unix seconds). */
const authorize = Effect.fnUntraced(function* (
  { method, offered }: RefundRoute,
  refund: Refund,
  wallet: Address,
  privateKey: Hex,
  now: number
) {
  const stretch = AUTHORIZATION_STRETCH_SECONDS
  const validBefore = (Math.floor(now / stretch) + 2) * stretch
  const transfer = {
    from: getAddress(wallet),
    to: getAddress(refund.proof.payer),
    value: refund.terms.amount,
    validAfter: 0n,
    validBefore: BigInt(validBefore),
    nonce: hexOf(refund.nonce)
  }
  const terms: PaymentTerms = {
    scheme: "exact",
    network: offered.network,
    asset: offered.asset,
    amount: refund.terms.amount,
    payTo: transfer.to,
    maxTimeoutSeconds: 2 * stretch,
    extra: method.extra
  }
  const accepted = requirementsOf(terms)
  const { sign } = yield* signer
  const payload = JSON.stringify({
    x402Version: 2,
    accepted,
    payload: method.payloadOf(transfer, sign(privateKey, method.digest(transfer)))
  })
  const proof: PaymentProof = {
    digest: createHash("sha256").update(payload).digest("hex"),
    network: terms.network,
    asset: terms.asset,
    payer: wallet,
    payTo: terms.payTo,
    value: terms.amount,
    nonce: transfer.nonce,
    validAfter: 0,
    validBefore,
    accepted,
    payload
  }
  return { proof, terms }
})
