import * as Usdt from "../catalog/Usdt.ts"
import type { ManualRefund } from "./ManualRefundStore.ts"
import type { Operation } from "./Operation.ts"
import type { ChainTransfer, Token } from "./PaymentRail.ts"

/** A token, with its symbol and decimals; null if it is not accepted now. */
export interface NamedToken extends Token {
  readonly symbol: string | null
  readonly decimals: number | null
}

/** A transfer between two wallets of ours. Addresses are in lower case. */
export interface OwnTransfer extends Pick<ChainTransfer, "transaction" | "block" | "amount"> {
  readonly from: string
  readonly to: string
}

/** The ledger of one token compared with the transfers on the chain. */
export interface ChainComparison extends NamedToken {
  /** Count and total, in base units, of the transfers that the chain shows as received and as refunded, without `ownTransfers`. */
  readonly received: { readonly count: number; readonly amount: bigint }
  readonly paidBack: { readonly count: number; readonly amount: bigint }
  /**
   * Received transfers without an operation: not yet claimed, a gift, or a payment to another deployment. A transfer by
   * an authorization for our challenge becomes an operation once its payer presents the authorization again.
   */
  readonly unclaimed: ReadonlyArray<ChainTransfer>
  /** Transfers between our own wallets that pay or refund no operation. They change nothing that is owed. */
  readonly ownTransfers: ReadonlyArray<OwnTransfer>
  /** Messages for the operator; empty when ledger and chain agree. */
  readonly problems: ReadonlyArray<string>
}

/** The fields of an operation kept in memory during the comparison with the chain. The large `answer` is left out. */
export interface PaidOperation extends Pick<
  Operation,
  "operationId" | "state" | "transaction" | "refundTransaction" | "nonceReadAtBlock"
> {
  readonly payer: string
  readonly token: Token
  readonly amount: bigint
}

export const sum = (rows: ReadonlyArray<{ readonly amount: bigint }>): bigint =>
  rows.reduce((total, { amount }) => total + amount, 0n)

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

/**
 * Matches operations, and the refunds by hand, with transfers of one token. Each transfer is matched once at most. A refund by
 * hand may come from any wallet, so it need not be among the transfers. `outflows` left a refund wallet without any of them.
 */
export const compareTransfers = (
  paid: ReadonlyArray<PaidOperation>,
  refunds: ReadonlyArray<ManualRefund>,
  transfers: ReadonlyArray<ChainTransfer>
): Omit<ChainComparison, keyof NamedToken> & { readonly outflows: ReadonlyArray<ChainTransfer> } => {
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
  const moved = new Set(left.filter(({ ownWallet }) => ownWallet !== undefined))
  const foreign = left.filter((transfer) => !moved.has(transfer))
  const listed = (direction: ChainTransfer["direction"], among: ReadonlyArray<ChainTransfer>) =>
    among.filter((transfer) => transfer.direction === direction)
  const total = (direction: ChainTransfer["direction"]) => {
    const counted = listed(direction, transfers).filter((transfer) => !moved.has(transfer))
    return { count: counted.length, amount: sum(counted) }
  }
  return {
    received: total("received"),
    paidBack: total("refunded"),
    unclaimed: listed("received", foreign),
    outflows: listed("refunded", foreign),
    ownTransfers: ownTransfersOf([...moved]),
    problems
  }
}

/** Lists each transfer once, oldest first, though one from a refund wallet to us was listed in both directions. */
const ownTransfersOf = (moved: ReadonlyArray<ChainTransfer>): ReadonlyArray<OwnTransfer> => {
  const listedAs = (side: ChainTransfer["direction"]) =>
    moved.flatMap(({ amount, block, direction, ownWallet = "", transaction, wallet }): ReadonlyArray<OwnTransfer> => {
      const [from, to] = side === "received" ? [wallet, ownWallet] : [ownWallet, wallet]
      return direction === side ? [{ transaction, block, from, to, amount }] : []
    })
  const sent = listedAs("refunded")
  const keys = sent.map(({ amount, from, to, transaction }) => keyOf(from, transaction, to, amount))
  const isListed = ({ amount, from, to, transaction }: OwnTransfer) => {
    const place = keys.indexOf(keyOf(from, transaction, to, amount))
    return place >= 0 && keys.splice(place, 1).length > 0
  }
  const received = listedAs("received").filter((transfer) => !isListed(transfer))
  return [...sent, ...received].toSorted((a, b) => Number(a.block - b.block))
}

/** The message about a transfer from a refund wallet that belongs to no operation. */
export const outflowProblem = (
  { decimals, symbol }: NamedToken,
  { amount, transaction, wallet }: ChainTransfer
): string => {
  const shown = decimals === null ? "" : ` (${Usdt.fromBaseUnits(amount, decimals)} ${symbol})`
  return `${amount} base units${shown} were sent from the refund wallet to ${wallet} in ${transaction} without an operation`
}
