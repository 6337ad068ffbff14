import { Context, Effect, Layer, Option } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { accountOf, type LedgerAccount } from "./Ledger.ts"
import { type ManualRefund, ManualRefundStore } from "./ManualRefundStore.ts"
import type { Operation } from "./Operation.ts"
import { OperationStore } from "./OperationStore.ts"
import { type ChainTransfer, PaymentRail, type Token } from "./PaymentRail.ts"
import { symbolOf } from "./PaymentTerms.ts"

/** A token, and its symbol; null if it is not accepted now. */
interface NamedToken extends Token {
  readonly symbol: string | null
}

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

/** The ledger of one token compared with the transfers on the chain. */
export interface ChainComparison extends NamedToken {
  /** Count and total, in base units, of the transfers that the chain shows as received and as refunded. */
  readonly received: { readonly count: number; readonly amount: bigint }
  readonly paidBack: { readonly count: number; readonly amount: bigint }
  /**
   * Received transfers without an operation: not yet claimed, a gift, or a payment to another deployment. A transfer by
   * an authorization for our challenge becomes an operation once its payer presents the authorization again.
   */
  readonly unclaimed: ReadonlyArray<ChainTransfer>
  /** Messages for the operator; empty when ledger and chain agree. */
  readonly problems: ReadonlyArray<string>
}

/** Transfers of one token that belong to no operation. */
export interface UnclaimedTransfers extends Token {
  readonly transfers: ReadonlyArray<ChainTransfer>
}

/** The fields of an operation kept in memory during the comparison with the chain. The large `answer` is left out. */
interface PaidOperation extends Pick<
  Operation,
  "operationId" | "state" | "transaction" | "refundTransaction" | "nonceReadAtBlock"
> {
  readonly payer: string
  readonly token: Token
  readonly amount: bigint
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
     * Returns the transfers to us of the last day without an operation, for each token accepted now. Leaves out the
     * last ten minutes, because their operations may be in progress. The cost grows with
     * one day's payments, not with all.
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
        return { ...token, symbol: accepted === undefined ? null : symbolOf(accepted) }
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
        return { ...named(token), ...compareTransfers(paid, refunds, transfers) }
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

      const findUnclaimed = Effect.gen(function* () {
        if (!rail.listsTransfers) return []
        const now = yield* Timestamp.now
        const [from, until] = [now - UNCLAIMED_WINDOW, now - UNCLAIMED_GRACE].map((moment) =>
          Timestamp.Timestamp.make(Math.max(0, moment))
        )
        const tokens = acceptedTokens()
        const received = yield* Effect.forEach(tokens, (token) =>
          Effect.gen(function* () {
            const first = yield* rail.blockBefore(token, from!)
            const last = yield* rail.blockBefore(token, until!)
            const transfers = yield* readTransfers(token, first + 1n)
            return transfers.filter(({ block, direction }) => direction === "received" && block <= last)
          })
        )
        // Read after the transfers, so that the operation of each transfer has had time to be stored.
        const paid = yield* readPaid(Uuid.fromParts(Math.max(0, from! - OPERATION_AGE_MAX), 0n))
        const refunds = yield* manual.list()
        return tokens.map((token, index) => {
          const own = paid.filter((operation) => isOf(operation.token, token))
          const returned = refunds.filter((refund) => isIn(refund, token))
          return { ...token, transfers: limited(compareTransfers(own, returned, received[index] ?? [])).unclaimed }
        })
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

const sum = (rows: ReadonlyArray<{ readonly amount: bigint }>): bigint =>
  rows.reduce((total, { amount }) => total + amount, 0n)

const isOf = (row: Token, token: Token): boolean => row.network === token.network && row.asset === token.asset

const lowerCase = ({ asset, network }: Token): Token => ({ network, asset: asset.toLowerCase() })

/** The assets of refunds by hand are in lower case, and those of terms are not. */
const isIn = (refund: ManualRefund, { asset, network }: Token): boolean =>
  refund.network === network && refund.asset === asset.toLowerCase()

const tokensOf = (rows: ReadonlyArray<Token>): ReadonlyArray<Token> =>
  Array.from(new Map(rows.map(({ asset, network }) => [`${network} ${asset}`, { network, asset }])).values())

/** Returns the key that matches operations with transfers. One transaction may contain several transfers. */
const keyOf = (direction: string, transaction: string, wallet: string, amount: bigint): string =>
  `${direction} ${transaction.toLowerCase()} ${wallet.toLowerCase()} ${amount}`

/** Whether a transfer can be that of an operation, of which the token kept a fee. */
const isShort = (
  one: ChainTransfer,
  direction: ChainTransfer["direction"],
  transaction: string,
  { amount, payer }: PaidOperation
): boolean =>
  one.amount < amount &&
  keyOf(one.direction, one.transaction, one.wallet, amount) === keyOf(direction, transaction, payer, amount)

/** Lists at most `PROBLEM_LIMIT` messages of each kind. */
const limited = <A extends Pick<ChainComparison, "unclaimed" | "problems">>(comparison: A): A => {
  const { problems, unclaimed } = comparison
  const more = problems.length - PROBLEM_LIMIT
  return {
    ...comparison,
    unclaimed: unclaimed.slice(0, PROBLEM_LIMIT),
    problems: more > 0 ? [...problems.slice(0, PROBLEM_LIMIT), `and ${more} more`] : problems
  }
}

/**
 * Matches operations, and the refunds by hand, with transfers of one token. Each transfer is matched once at most. A refund by
 * hand may come from any wallet, so it need not be among the transfers.
 */
const compareTransfers = (
  paid: ReadonlyArray<PaidOperation>,
  refunds: ReadonlyArray<ManualRefund>,
  transfers: ReadonlyArray<ChainTransfer>
): Omit<ChainComparison, keyof NamedToken> => {
  const open = new Map<string, Array<ChainTransfer>>()
  for (const transfer of transfers) {
    const key = keyOf(transfer.direction, transfer.transaction, transfer.wallet, transfer.amount)
    open.set(key, [...(open.get(key) ?? []), transfer])
  }
  const matched = (direction: "received" | "refunded", transaction: string, wallet: string, amount: bigint): boolean =>
    open.get(keyOf(direction, transaction, wallet, amount))?.shift() !== undefined
  const missing: Array<{
    readonly direction: "received" | "refunded"
    readonly transaction: string
    readonly of: PaidOperation
  }> = []
  const match = (direction: "received" | "refunded", transaction: string, of: PaidOperation) => {
    if (!matched(direction, transaction, of.payer, of.amount)) missing.push({ direction, transaction, of })
  }
  const byHand = new Set(refunds.map(({ operationId }) => operationId))

  const problems: Array<string> = []
  for (const operation of paid) {
    const { operationId, refundTransaction, transaction } = operation
    if (transaction !== null) match("received", transaction, operation)
    if (refundTransaction !== null && !byHand.has(operationId)) match("refunded", refundTransaction, operation)
  }
  for (const { amount, operationId, receivedAmount, receivedTransaction, transaction, wallet } of refunds) {
    matched("refunded", transaction, wallet, amount)
    if (operationId === null) matched("received", receivedTransaction, wallet, receivedAmount)
  }
  for (const { direction, of, transaction } of missing) {
    const what = `operation ${of.operationId} (${of.state}) is ${direction === "received" ? "paid" : "refunded"}`
    const short = [...open.values()]
      .find(([one]) => one !== undefined && isShort(one, direction, transaction, of))
      ?.shift()
    problems.push(
      short === undefined
        ? `${what}, but the chain shows no transfer in ${transaction}`
        : `${what}, but the chain shows ${short.amount} of ${of.amount} in ${transaction}: the token kept a fee`
    )
  }
  const left = [...open.values()].flat()
  const unclaimed = left.filter(({ direction }) => direction === "received")
  for (const { amount, transaction, wallet } of left.filter(({ direction }) => direction === "refunded")) {
    problems.push(`${amount} was refunded to ${wallet} in ${transaction} without an operation`)
  }
  const total = (direction: ChainTransfer["direction"]) => {
    const own = transfers.filter((transfer) => transfer.direction === direction)
    return { count: own.length, amount: sum(own) }
  }
  return { received: total("received"), paidBack: total("refunded"), unclaimed, problems }
}
