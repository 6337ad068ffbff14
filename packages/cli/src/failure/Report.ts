import type { Host } from "../host/Host.ts"
import type { Output } from "../output/Output.ts"
import { plain, plainJson } from "../output/Plain.ts"
import { EXIT } from "./ExitCode.ts"
import type { Failure, PaymentState } from "./Failure.ts"

/** Whether money moved, in a sentence. */
const MONEY: Readonly<Record<PaymentState, string>> = {
  none: "Nothing was charged.",
  pending: "The payment is under way: do not pay again.",
  unknown: "It is not known yet whether the payment went through: do not pay again.",
  settled: "The payment went through.",
  refund_due: "The payment went through, and is owed back to your wallet.",
  refunded: "The payment was returned to your wallet."
}

const LOGIN = "agentctl login"

/** A token of the environment is stronger than a saved one, and `login` would read it once more. */
const nextOf = ({ parts: { next = [] } }: Failure, { env }: Host): ReadonlyArray<string> =>
  next.some((command) => command.startsWith(LOGIN)) && (env["AGENTOS_TOKEN"] ?? "") !== ""
    ? ["unset AGENTOS_TOKEN", ...next]
    : next

/** A message that says itself what became of the money, or that none could have moved. */
const SAYS_IT = /do not pay again|Nothing was (?:charged|signed|sent)\./

/** Prints why a command failed, on standard error: what happened, whether money moved, what to do next. */
export const report = (failure: Failure, output: Output, host: Host): void => {
  const { code, issues = [], message, paymentState, requestId, retryable } = failure.parts
  const next = nextOf(failure, host)
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
    host.stderr.write(`${plainJson({ error }, 2)}\n`)
    return
  }
  const money = paymentState === undefined ? "" : MONEY[paymentState]
  const isError = failure.exit !== EXIT.cancelled && failure.exit !== EXIT.interrupted
  const label = output.options.color ? "\u001b[31mError:\u001b[39m " : "Error: "
  const lines = [
    message,
    ...(issues.length > 1
      ? issues.map(({ message: text, path }) => `  ${path === "" ? "the body" : path}: ${text}`)
      : []),
    ...(money === "" || SAYS_IT.test(message) ? [] : [money]),
    ...next.map((command) => `Next: ${command}`),
    ...(requestId === undefined ? [] : [`Request id: ${requestId}`])
  ]
  host.stderr.write(`${isError ? label : ""}${plain(lines.join("\n"))}\n`)
}
