import { EXIT, type Failure, type PaymentState } from "./Failure.ts"
import type { Host } from "./Host.ts"
import type { Output } from "./Output.ts"
import { plain, plainJson } from "./Text.ts"

const MONEY: Readonly<Record<PaymentState, string>> = {
  none: "Nothing was charged.",
  pending: "The payment is in progress: do not pay again.",
  unknown: "The outcome of the payment is unknown: do not pay again.",
  settled: "The payment went through.",
  refund_due: "The payment went through and will be refunded to your wallet.",
  refunded: "The payment was refunded to your wallet."
}

/** Messages that already say whether money moved. */
const MENTIONS_MONEY = /do not pay again|Nothing was (?:charged|signed|sent)\./

/** Prints a failure on standard error: the problem, whether money moved, and what to run next. */
export const report = (failure: Failure, output: Output, { stderr }: Pick<Host, "stderr">): void => {
  const { code, issues = [], message, next = [], paymentState, requestId, retryable } = failure.parts
  if (output.options.json) {
    const error = {
      code,
      message,
      exitCode: failure.exit,
      ...(requestId === undefined ? {} : { requestId }),
      ...(retryable === undefined ? {} : { retryable }),
      ...(paymentState === undefined ? {} : { paymentState }),
      ...(issues.length === 0 ? {} : { issues }),
      ...(next.length === 0 ? {} : { next })
    }
    stderr.write(`${plainJson({ error }, 2)}\n`)
    return
  }
  const money = paymentState === undefined ? "" : MONEY[paymentState]
  const isError = failure.exit !== EXIT.cancelled && failure.exit !== EXIT.interrupted
  const label = output.options.color ? "\u001b[31mError:\u001b[39m " : "Error: "
  const lines = [
    message,
    ...(issues.length > 1
      ? issues.map(({ message: text, path }) => `  ${path === "" ? "request body" : path}: ${text}`)
      : []),
    ...(money === "" || MENTIONS_MONEY.test(message) ? [] : [money]),
    ...next.map((command) => `Next: ${command}`),
    ...(requestId === undefined ? [] : [`Request id: ${requestId}`])
  ]
  stderr.write(`${isError ? label : ""}${plain(lines.join("\n"))}\n`)
}
