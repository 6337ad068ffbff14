import { AgentOsError, decimalOf } from "@agentos/client"
import type { Host } from "../host/Host.ts"
import { type Budget, excessOf, excessText } from "../payment/Budget.ts"

/**
 * Throws SPEND_LIMIT_EXCEEDED if a payment of `amount` base units would exceed a limit. The spending of all processes
 * counts. `consequence` names the step that was not taken.
 */
export const checkLimits = async (
  host: Host,
  profile: string,
  amount: bigint,
  limits: Budget,
  consequence: string
): Promise<void> => {
  const excess = await excessOf(host, profile, amount, limits)
  if (excess === undefined) return
  const price = decimalOf(amount)
  throw new AgentOsError({
    code: "SPEND_LIMIT_EXCEEDED",
    message: `The price is ${price} USDT, and ${excessText(excess)}. ${consequence}`,
    details: {
      limit: excess.limit,
      limitAmount: decimalOf(excess.limitAmount),
      price,
      spentLastDay: decimalOf(excess.spent)
    }
  })
}
