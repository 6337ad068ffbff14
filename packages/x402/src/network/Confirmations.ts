import { Usdt } from "@agentos/core"
import { Schema } from "effect"
import { between } from "./ConfigurationField.ts"

const Blocks = between(0, 10_000)

/** The number of blocks required from a price on. `from` is a decimal price such as `5.00`. */
const Rule = Schema.Struct({
  from: Schema.String.check(Schema.isPattern(/^\d{1,12}(\.\d{1,6})?$/, { expected: "a price, for example 5.00" })),
  blocks: Blocks
})

/**
 * The number of blocks that must follow a payment's block before the payment counts. Either one number for
 * every price (0: the latest block is enough), or rules, of which the one with the highest `from` not above the
 * price applies. One rule must start at `0`.
 */
export const Confirmations = Schema.Union([
  Blocks,
  Schema.Array(Rule).check(
    Schema.isMaxLength(20),
    Schema.makeFilter((rules) => rules.some(({ from }) => Usdt.fromDecimal(from) === 0n), {
      expected: "a list with a rule from 0"
    })
  )
])
export type Confirmations = typeof Confirmations.Type

/** Returns the confirmations required for a price in base units. */
export const confirmationsOf = (confirmations: Confirmations, price: bigint): number => {
  if (typeof confirmations === "number") return confirmations
  const reached = confirmations.filter(({ from }) => Usdt.fromDecimal(from) <= price)
  const highest = reached.reduce((best, rule) =>
    Usdt.fromDecimal(rule.from) > Usdt.fromDecimal(best.from) ? rule : best
  )
  return highest.blocks
}
