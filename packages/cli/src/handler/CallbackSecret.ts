import type { Context } from "../command/Handler.ts"
import { resumeCommand } from "../payment/Delivery.ts"

/**
 * The secret of voice callbacks, which the service gives in the answer to the purchase alone. It is shown on a terminal,
 * and is part of the document with --json; as text for people it goes into no pipe. The payment, taken up again, shows
 * it once more.
 */
export const secretFields = (
  { host, output }: Context,
  data: Readonly<Record<string, unknown>> | null,
  paymentId: string
): ReadonlyArray<readonly [string, string]> => {
  const secret = data?.["callbackVerificationSecret"]
  if (typeof secret !== "string") return []
  if (!host.stdout.isTerminal && !output.options.json) {
    output.warn(
      `The secret of its callbacks is not printed to a pipe. This prints it: ${resumeCommand(paymentId)} --json`
    )
    return []
  }
  output.warn("Keep the callback secret: with it your agent knows that a callback is from the service.")
  return [["Callback secret", secret]]
}
