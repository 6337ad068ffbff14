import { BaseError, HttpRequestError, RpcRequestError, TimeoutError } from "viem"

/** Returns whether an error means that the chain could not be reached, and not that it answered no. */
export const isOutage = (error: unknown): boolean =>
  !(error instanceof BaseError) ||
  error.walk(
    (cause) =>
      cause instanceof HttpRequestError ||
      cause instanceof TimeoutError ||
      (cause instanceof RpcRequestError && !REVERTS.test(nodeMessages(cause)))
  ) !== null

/** The messages of nodes for a failed simulation, which counts as an answer. */
const REVERTS = /revert|out of gas|invalid opcode|always failing|gas required exceeds/i

/** Returns a node's messages for matching. They must never be shown: they may contain the node's URL with its key. */
export const nodeMessages = (error: unknown): string => {
  const messages: Array<string> = []
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    messages.push(cause instanceof BaseError ? `${cause.shortMessage} ${cause.details}` : cause.message)
  }
  return messages.join(" ")
}
