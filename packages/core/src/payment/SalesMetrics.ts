import { Effect, Metric } from "effect"
import { serviceEntry } from "../catalog/Catalog.ts"
import type { ServiceId } from "../catalog/ServiceId.ts"
import * as Usdt from "../catalog/Usdt.ts"

const counterOf = (account: string) =>
  Metric.counter("agentos_money_usdt_total", {
    description:
      "Prices of the operations that this process fulfilled or refunded; of one that it fulfilled first, both.",
    attributes: { account },
    incremental: true
  })

/** The steps of an operation after which its money stays in the account. */
const COUNTERS = new Map([
  ["fulfilled", counterOf("fulfilled")],
  ["refunded", counterOf("refunded")]
])

/** Starts the counters, so that their first increase is seen. */
export const startCounters: Effect.Effect<void> = Effect.forEach(
  COUNTERS.values(),
  (counter) => Metric.update(counter, 0),
  { discard: true }
)

/** Counts the money of an operation at its end. */
export const countMoney = (step: string, { serviceId }: { readonly serviceId: ServiceId }): Effect.Effect<void> => {
  const counter = COUNTERS.get(step)
  const { price } = serviceEntry(serviceId)
  return counter === undefined || price === null ? Effect.void : Metric.update(counter, Number(Usdt.toDecimal(price)))
}
