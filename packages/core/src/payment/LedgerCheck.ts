import { Context, Effect, Layer, Option } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import type { WalletAddress } from "../tenancy/Tenant.ts"
import { accountOf, type LedgerAccount } from "./Ledger.ts"
import { type ManualRefund, ManualRefundStore } from "./ManualRefundStore.ts"
import type { Operation } from "./Operation.ts"
import { OperationStore } from "./OperationStore.ts"
import { type ChainTransfer, PaymentRail, type Token } from "./PaymentRail.ts"
import { decimalsOf, symbolOf } from "./PaymentTerms.ts"
import {
  type ChainComparison,
  compareTransfers,
  type NamedToken,
  outflowProblem,
  type PaidOperation,
  sum
} from "./TransferComparison.ts"

/** The ledger of one token in base units, and its problems. */
export interface TokenLedger extends NamedToken {
  /** Sum of all payments ever settled: the total of the other four. */
  readonly settled: bigint
  readonly fulfilled: bigint
  readonly inFlight: bigint
  readonly refundDue: bigint
  readonly refunded: bigint
  /** Messages for the operator; empty when the ledger balances. */
  readonly problems: ReadonlyArray<string>
}

/** Transfers of one token that belong to no operation. */
export interface UnclaimedTransfers extends Token {
  readonly transfers: ReadonlyArray<ChainTransfer>
  /** A message for each transfer from a refund wallet. */
  readonly outflows: ReadonlyArray<string>
}

const toPaid = (operation: Operation): PaidOperation => {
  const { nonceReadAtBlock, operationId, proof, refundTransaction, state, terms, transaction } = operation
  const { amount, asset, network } = terms
  const token = { network, asset }
  return { operationId, state, transaction, refundTransaction, nonceReadAtBlock, payer: proof.payer, token, amount }
}

/** Operations read per page. */
const PAGE = 500
/** How far back unclaimed transfers are searched for, and the minimum age of such a transfer. */
const UNCLAIMED_WINDOW = Timestamp.DAY
const UNCLAIMED_GRACE = 10 * Timestamp.MINUTE
/**
 * Maximum by which an operation can be older than the transfer that pays it: an authorization is valid for at most
 * one hour.
 */
const OPERATION_AGE_MAX = 2 * Timestamp.HOUR
/** More operations of one payer in a state are not searched for a refund. */
const PAYER_OPERATIONS_MAX = 1_000
/** Maximum number of listed messages per kind; the others are only counted. */
const PROBLEM_LIMIT = 100

/**
 * Proves that all money is accounted for: the ledger balances, the ledger agrees with the operations, and the chain
 * agrees with both.
 */
export class LedgerCheck extends Context.Service<
  LedgerCheck,
  {
    /** Compares the ledger of every token ever used for a payment with the operations. */
    readonly check: Effect.Effect<ReadonlyArray<TokenLedger>>
    /**
     * Compares every paid operation with the transfers on the chain, for each token that is accepted or was used for a
     * payment. Reads all operations, and all transfers since the first one; of an accepted token those of the last day in any
     * case, so that a database which has lost its operations is found.
     */
    readonly compareWithChain: Effect.Effect<ReadonlyArray<ChainComparison>, ProviderError>
    /**
     * Returns the transfers to us, and from the refund wallets, of the last day without an operation, for each token accepted
     * now. Leaves out the last ten minutes, because their operations may be in progress, and transfers between our own wallets.
     * The cost grows with one day's payments, not with all.
     */
    readonly findUnclaimed: Effect.Effect<ReadonlyArray<UnclaimedTransfers>, ProviderError>
    /** Returns the transfers to us in a transaction without an operation and without a return. As costly as `compareWithChain`. */
    readonly findUnclaimedIn: (
      transaction: string
    ) => Effect.Effect<ReadonlyArray<ChainTransfer & Token>, ProviderError>
  }
>()("@agentos/core/payment/LedgerCheck") {
  static readonly layer = Layer.effect(
    LedgerCheck,
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const rail = yield* PaymentRail
      const manual = yield* ManualRefundStore

      const named = (token: Token): NamedToken => {
        const accepted = rail.terms(0n).find((terms) => isOf(lowerCase(terms), lowerCase(token)))
        if (accepted === undefined) return { ...token, symbol: null, decimals: null }
        return { ...token, symbol: symbolOf(accepted), decimals: decimalsOf(accepted) }
      }

      const check = Effect.gen(function* () {
        const { balances, totals } = yield* operations.books
        return tokensOf([...balances, ...totals]).map((token) => {
          const balanceOf = (account: LedgerAccount) =>
            sum(balances.filter((row) => isOf(row, token) && row.account === account))
          const expected = (account: LedgerAccount) =>
            sum(totals.filter((row) => isOf(row, token) && accountOf(row.state) === account))
          const settled = -balanceOf("received")
          const parts = {
            fulfilled: balanceOf("fulfilled"),
            inFlight: balanceOf("inFlight"),
            refundDue: balanceOf("refundDue"),
            refunded: balanceOf("refunded")
          }
          const accounted = parts.fulfilled + parts.inFlight + parts.refundDue + parts.refunded
          const problems = PARTS.filter((part) => parts[part] !== expected(part)).map(
            (part) => `${part} is ${parts[part]} in the ledger, but ${expected(part)} by the operations`
          )
          if (settled !== accounted) problems.unshift(`settled is ${settled}, but its parts add up to ${accounted}`)
          return { ...named(token), settled, ...parts, problems }
        })
      })

      const readPaid = Effect.fnUntraced(function* (first: string | null) {
        const paid: Array<PaidOperation> = []
        for (let after = first; ;) {
          const page: ReadonlyArray<Operation> = yield* operations.listPaid(after, PAGE)
          paid.push(...page.map(toPaid))
          if (page.length < PAGE) return paid
          after = page.at(-1)!.operationId
        }
      })

      const readTransfers = Effect.fnUntraced(function* (token: Token, fromBlock: bigint) {
        const transfers: Array<ChainTransfer> = []
        for (let block: bigint | null = fromBlock; block !== null;) {
          const page: { readonly transfers: ReadonlyArray<ChainTransfer>; readonly nextBlock: bigint | null } =
            yield* rail.transfers(token, block)
          transfers.push(...page.transfers)
          block = page.nextBlock
        }
        return transfers
      })

      const acceptedTokens = () => rail.terms(0n).map(({ asset, network }) => ({ network, asset }))

      /** The block from which the transfers of a token are read: that of its first operation, or that of a day ago. */
      const firstBlockOf = Effect.fnUntraced(function* (token: Token, paid: ReadonlyArray<PaidOperation>) {
        const blocks = paid.map(({ nonceReadAtBlock }) => nonceReadAtBlock ?? 0n)
        if (acceptedTokens().some((accepted) => isOf(accepted, token))) {
          const dayAgo = (yield* Timestamp.now) - UNCLAIMED_WINDOW
          blocks.push((yield* rail.blockBefore(token, Timestamp.Timestamp.make(Math.max(0, dayAgo)))) + 1n)
        }
        return blocks.reduce((lowest, block) => (block < lowest ? block : lowest), blocks[0] ?? 0n)
      })

      const compare = Effect.fnUntraced(function* (
        token: Token,
        paid: ReadonlyArray<PaidOperation>,
        refunds: ReadonlyArray<ManualRefund>
      ) {
        const transfers = yield* readTransfers(token, yield* firstBlockOf(token, paid))
        const { outflows, ...comparison } = compareTransfers(paid, refunds, transfers)
        const about = named(token)
        const problems = [...comparison.problems, ...outflows.map((outflow) => outflowProblem(about, outflow))]
        return { ...about, ...comparison, problems }
      })

      /** Compares each token with the chain, with all messages. */
      const compareAll = Effect.gen(function* () {
        const paid = yield* readPaid(null)
        const refunds = yield* manual.list()
        const used = tokensOf([...acceptedTokens(), ...paid.map(({ token }) => token)])
        // The return of a transfer of a token that is no longer accepted.
        const tokens = tokensOf([...used, ...refunds.filter((refund) => !used.some((token) => isIn(refund, token)))])
        return yield* Effect.forEach(tokens, (token) =>
          compare(
            token,
            paid.filter((operation) => isOf(operation.token, token)),
            refunds.filter((refund) => isIn(refund, token))
          )
        )
      })

      /** Returns the refunds by hand that the chain no longer shows: a fork was taken back, or a node lied. */
      const findLost = Effect.fnUntraced(function* (token: Token) {
        const refunds = (yield* manual.list()).filter((refund) => isIn(refund, token))
        const shown = yield* Effect.forEach(refunds, (refund) =>
          Effect.map(
            rail.readTransfers(token, refund.transaction),
            Option.exists(({ transfers }) => transfers.some(({ transferId }) => transferId === refund.transferId))
          )
        )
        return refunds
          .filter((_, index) => shown[index] !== true)
          .map(
            ({ amount, transaction, wallet }) =>
              `${amount} was refunded by hand to ${wallet}, but the chain shows no transfer in ${transaction}`
          )
      })

      /**
       * Whether the transfer is the refund of an operation of its recipient, however old, or may be that of one whose refund is
       * due. The debts are read first: it becomes refunded, and never the reverse.
       */
      const refundsOlderOperation = Effect.fnUntraced(function* (token: Token, outflow: ChainTransfer) {
        const of = { payer: outflow.wallet as WalletAddress, limit: PAYER_OPERATIONS_MAX }
        const due = yield* operations.list({ ...of, state: "refund_due" })
        const refunded = yield* operations.list({ ...of, state: "refunded" })
        // The token may have kept a fee of a refund that was made.
        const isRefundOf = ({ amount, refundTransaction }: (typeof due)[number]) =>
          refundTransaction === null
            ? amount === outflow.amount
            : amount >= outflow.amount && refundTransaction.toLowerCase() === outflow.transaction.toLowerCase()
        return [...due, ...refunded].some((one) => isOf(one, lowerCase(token)) && isRefundOf(one))
      })

      const findUnclaimed = Effect.gen(function* () {
        if (!rail.listsTransfers) return []
        const now = yield* Timestamp.now
        const [from, until] = [now - UNCLAIMED_WINDOW, now - UNCLAIMED_GRACE].map((moment) =>
          Timestamp.Timestamp.make(Math.max(0, moment))
        )
        const tokens = acceptedTokens()
        const shown = yield* Effect.forEach(tokens, (token) =>
          Effect.gen(function* () {
            const first = yield* rail.blockBefore(token, from!)
            const last = yield* rail.blockBefore(token, until!)
            const transfers = yield* readTransfers(token, first + 1n)
            return transfers.filter(({ block }) => block <= last)
          })
        )
        // Read after the transfers, so that the operation of each transfer has had time to be stored.
        const paid = yield* readPaid(Uuid.fromParts(Math.max(0, from! - OPERATION_AGE_MAX), 0n))
        const refunds = yield* manual.list()
        return yield* Effect.forEach(tokens, (token, index) =>
          Effect.gen(function* () {
            const ofToken = paid.filter((operation) => isOf(operation.token, token))
            const returned = refunds.filter((refund) => isIn(refund, token))
            const { outflows, unclaimed } = compareTransfers(ofToken, returned, shown[index] ?? [])
            const unrecorded = yield* Effect.filter(outflows, (outflow) =>
              Effect.map(refundsOlderOperation(token, outflow), (is) => !is)
            )
            const messages = unrecorded.map((outflow) => outflowProblem(named(token), outflow))
            return { ...token, transfers: unclaimed.slice(0, PROBLEM_LIMIT), outflows: messages }
          })
        )
      })

      return LedgerCheck.of({
        check,
        findUnclaimed,
        findUnclaimedIn: (transaction) =>
          Effect.map(compareAll, (tokens) =>
            tokens.flatMap(({ asset, network, unclaimed }) =>
              unclaimed
                .filter((transfer) => transfer.transaction.toLowerCase() === transaction)
                .map((transfer) => ({ ...transfer, network, asset }))
            )
          ),
        compareWithChain: Effect.flatMap(
          compareAll,
          Effect.forEach((token) =>
            Effect.map(findLost(token), (lost) => limited({ ...token, problems: [...token.problems, ...lost] }))
          )
        )
      })
    })
  )
}

const PARTS = ["fulfilled", "inFlight", "refundDue", "refunded"] as const

const isOf = (row: Token, token: Token): boolean => row.network === token.network && row.asset === token.asset

const lowerCase = ({ asset, network }: Token): Token => ({ network, asset: asset.toLowerCase() })

/** The assets of refunds by hand are in lower case, and those of terms are not. */
const isIn = (refund: ManualRefund, { asset, network }: Token): boolean =>
  refund.network === network && refund.asset === asset.toLowerCase()

const tokensOf = (rows: ReadonlyArray<Token>): ReadonlyArray<Token> =>
  Array.from(new Map(rows.map(({ asset, network }) => [`${network} ${asset}`, { network, asset }])).values())

/** Lists at most `PROBLEM_LIMIT` messages of each kind. */
const limited = (comparison: ChainComparison): ChainComparison => {
  const { ownTransfers, problems, unclaimed } = comparison
  const more = problems.length - PROBLEM_LIMIT
  return {
    ...comparison,
    unclaimed: unclaimed.slice(0, PROBLEM_LIMIT),
    ownTransfers: ownTransfers.slice(-PROBLEM_LIMIT),
    problems: more > 0 ? [...problems.slice(0, PROBLEM_LIMIT), `and ${more} more`] : problems
  }
}
