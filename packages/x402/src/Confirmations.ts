import { Usdt } from "@agentos/core"
import { Schema } from "effect"
import { between } from "./ConfigurationField.ts"

const Blocks = between(0, 10_000)

/** From which price on how many blocks must follow. `from` is a price in decimals, as `5.00`. */
const Rule = Schema.Struct({ from: Schema.String.check(Schema.isPattern(/^\d{1,12}(\.\d{1,6})?$/)), blocks: Blocks })

/**
 * How many blocks must follow the one that paid before it counts: one number for every price (0: the latest block is
 * enough), or rules, of which the one with the highest `from` that a price reaches holds. One rule is from `0` on.
 */
export const Confirmations = Schema.Union([
  Blocks,
  Schema.Array(Rule).check(
    Schema.isMaxLength(20),
    Schema.makeFilter(
      (rules) => rules.some(({ from }) => Usdt.fromDecimal(from) === 0n) || "a list in which one rule is from 0 on"
    )
  )
])
export type Confirmations = typeof Confirmations.Type

/** The confirmations of a price in base units of a price. */
export const confirmationsOf = (confirmations: Confirmations, price: bigint): number => {
  if (typeof confirmations === "number") return confirmations
  const reached = confirmations.filter(({ from }) => Usdt.fromDecimal(from) <= price)
  const highest = reached.reduce((best, rule) =>
    Usdt.fromDecimal(rule.from) > Usdt.fromDecimal(best.from) ? rule : best
  )
  return highest.blocks
}
