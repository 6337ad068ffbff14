import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from "viem"

/** Returns whether an error means that the chain could not be reached, and not that it answered no. */
export const isOutage = (error: unknown): boolean =>
  !(error instanceof BaseError) ||
  error.walk(
    (cause) =>
      cause instanceof HttpRequestError ||
      cause instanceof TimeoutError ||
      (cause instanceof RpcRequestError && cause.code !== REVERTED && !REVERTS.test(nodeMessages(cause)))
  ) !== null

/** The code of geth and its derivatives for a call that reverted. */
const REVERTED = 3

/** The messages of nodes for a failed simulation, which counts as an answer. A contract can fail in each of these ways. */
const REVERTS =
  /revert|out of ?gas|gas required exceeds|always failing|opcode|invalid ?jump|stack ?(under|over|limit)|write protection|return data out of bounds|\bE?VM (execution )?error/i

/** Returns a node's messages for matching. They must never be shown: they may contain the node's URL with its key. */
export const nodeMessages = (error: unknown): string => {
  const messages: Array<string> = []
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    messages.push(cause instanceof BaseError ? `${cause.shortMessage} ${cause.details}` : cause.message)
  }
  return messages.join(" ")
}
