import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from "viem"

/**
 * What a node's refusal of a transaction means. Nodes say it in words of their own; the patterns are those of geth and
 * its kin (core/txpool/errors.go), erigon, reth, nethermind, besu and anvil.
 */
export type BroadcastRefusal =
  /** It has this very transaction. */
  | "AlreadyKnown"
  /** The chain has taken the account nonce, by this transaction or by another. */
  | "NonceTooLow"
  /** The price is too low for the chain or, where another version is known, for taking its place. */
  | "Underpriced"
  /** The wallet can't pay for the gas. */
  | "InsufficientFunds"
  /** Anything else, with silence: nothing is known. */
  | "Unclear"

const PATTERNS: ReadonlyArray<readonly [BroadcastRefusal, RegExp]> = [
  ["AlreadyKnown", /already ?(known|imported|exists|in (the )?(mem|tx)?pool)|known transaction/i],
  ["NonceTooLow", /nonce (is )?too (low|old)|old ?nonce/i],
  [
    "Underpriced",
    /underpriced|fee ?(is )?too ?low|(less|lower) than (the )?(block )?base ?fee|gas price (is )?too low/i
  ],
  ["InsufficientFunds", /insufficient ?(funds|balance)|upfront cost exceeds|not enough funds/i]
]

/** What a node's answer to a transaction that it did not take means. */
export const refusalIn = (error: unknown): BroadcastRefusal => {
  const text = wordsOf(error)
  return PATTERNS.find(([, pattern]) => pattern.test(text))?.[0] ?? "Unclear"
}

/** Whether an error says that the chain could not be asked, and not that it answered no. */
export const isOutage = (error: unknown): boolean =>
  !(error instanceof BaseError) ||
  error.walk(
    (cause) =>
      cause instanceof HttpRequestError ||
      cause instanceof TimeoutError ||
      (cause instanceof RpcRequestError && !REVERTS.test(wordsOf(cause)))
  ) !== null

/** How nodes say that a trial run came to nothing, which is an answer. */
const REVERTS = /revert|out of gas|invalid opcode|always failing|gas required exceeds/i

/** What a node said, for a pattern to be found in. Never shown: it can hold the node's address with its key. */
const wordsOf = (error: unknown): string => {
  const words: Array<string> = []
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    words.push(cause instanceof BaseError ? `${cause.shortMessage} ${cause.details}` : cause.message)
  }
  return words.join(" ")
}

/** What kind of failure it was, without a word of what the node said. */
export const kindOf = (error: unknown): string => {
  if (!(error instanceof BaseError)) return error instanceof Error ? error.name : "unknown failure"
  const root = error.walk()
  const status = root instanceof HttpRequestError && root.status !== undefined ? ` ${root.status}` : ""
  return `${root.name}${status}`
}
