import { nodeMessages } from "../chain/RpcTransport.ts"
import { BaseError, HttpRequestError } from "viem"

/**
 * The meaning of a node's refusal of a transaction. Nodes use different messages; the patterns match those of
 * geth and its derivatives (core/txpool/errors.go), erigon, reth, nethermind, besu and anvil.
 */
export type BroadcastRefusal =
  /** The node already has this transaction. */
  | "AlreadyKnown"
  /** The chain has used the account nonce, for this transaction or another. */
  | "NonceTooLow"
  /** The price is too low for the chain, or too low to replace a known version. */
  | "Underpriced"
  /** The wallet cannot pay for the gas. */
  | "InsufficientFunds"
  /** Anything else, including no answer: the outcome is unknown. */
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

/** Classifies a node's answer to a transaction that it did not accept. */
export const refusalIn = (error: unknown): BroadcastRefusal => {
  const messages = nodeMessages(error)
  return PATTERNS.find(([, pattern]) => pattern.test(messages))?.[0] ?? "Unclear"
}

/** Returns the kind of a failure, without any text from the node. */
export const kindOf = (error: unknown): string => {
  if (!(error instanceof BaseError)) return error instanceof Error ? error.name : "unknown failure"
  const root = error.walk()
  const status = root instanceof HttpRequestError && root.status !== undefined ? ` ${root.status}` : ""
  return `${root.name}${status}`
}
