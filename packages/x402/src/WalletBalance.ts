import { Effect, Metric, Schedule, type Scope } from "effect"

/** Chains count each read. */
const READ_EVERY = "5 minutes"

/** Wallets of the operator, with the unit of their balance. */
const GAUGES = {
  refund: ["agentos_refund_wallet_usdt", "Balance of the refund wallet, in whole tokens."],
  gas: ["agentos_gas_wallet_coins", "Balance of the gas wallet, in the chain's native coin."]
} as const

/**
 * Shows the balance of a wallet as a metric, now and every five minutes until the scope closes. A chain that does not answer
 * leaves the last balance.
 */
export const watchBalance = <E>(
  wallet: keyof typeof GAUGES,
  attributes: Readonly<Record<string, string>>,
  read: Effect.Effect<string, E>
): Effect.Effect<void, never, Scope.Scope> => {
  const [name, description] = GAUGES[wallet]
  const gauge = Metric.gauge(name, { description, attributes })
  const reading = Effect.ignore(Effect.flatMap(read, (balance) => Metric.update(gauge, Number(balance))))
  return Effect.asVoid(Effect.forkScoped(Effect.repeat(reading, Schedule.spaced(READ_EVERY))))
}
