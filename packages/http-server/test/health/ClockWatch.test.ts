import { OperationStore, Transactor } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Logger, Metric } from "effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { TestClock } from "effect/testing"
import { Readiness } from "../../src/health/Readiness.ts"
import { ChainClocks, DatabaseClock } from "../../src/ReferenceClocks.ts"

const SECOND = 1_000
const ROUND = "15 seconds"

/** A readiness whose clock is compared with a database and a chain that are ahead by what `others` says. */
const compared = (others: { database: number; chain: number; answers: boolean }) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
  const readAhead = (name: "database" | "chain", isExact: boolean) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const other = now + others[name]
      return others.answers ? Effect.succeed({ earliest: other, latest: isExact ? other : undefined }) : Effect.never
    })
  const clocks = Layer.mergeAll(
    Layer.succeed(DatabaseClock, { source: "database", read: readAhead("database", true) }),
    Layer.succeed(ChainClocks, [{ source: "eip155:196", read: readAhead("chain", false) }]),
    Layer.succeed(Transactor, { transact: (effect) => effect, ready: Effect.succeed(true) }),
    Layer.mock(OperationStore, { countOpen: () => Effect.succeed([]) }),
    Layer.succeed(Metric.MetricRegistry, new Map()),
    Logger.layer([logger])
  )
  return { lines, layer: Layer.provideMerge(Readiness.layer, clocks) }
}

/** Whether the server is ready, and whether it takes payments, after the clocks are compared again. */
const stateAfterRound = Effect.gen(function* () {
  yield* TestClock.adjust(ROUND)
  const { check, requireClock } = yield* Readiness
  const takesPayments = yield* Effect.match(requireClock, { onFailure: () => false, onSuccess: () => true })
  assert.strictEqual(yield* check, takesPayments)
  return takesPayments
})

describe("the comparison of clocks", () => {
  it.effect("warns at 5 s, is not ready at 30 s and says so once, and is ready again when the clocks agree", () => {
    const others = { database: 0, chain: 0, answers: true }
    const { layer, lines } = compared(others)
    return Effect.gen(function* () {
      const after = (database: number) => {
        others.database = database
        return Effect.andThen(stateAfterRound, stateAfterRound)
      }
      assert.isTrue(yield* after(4.9 * SECOND))
      assert.deepStrictEqual(lines, [])
      assert.isTrue(yield* after(5 * SECOND))
      assert.isTrue(yield* after(-29.9 * SECOND))
      assert.isFalse(yield* after(-30 * SECOND))
      assert.include(yield* PrometheusMetrics.format(), 'agentos_clock_offset_seconds{source="database"} 30')
      assert.isFalse(yield* after(120 * SECOND))
      assert.isTrue(yield* after(0))
      assert.deepStrictEqual(lines, [
        "Warn the clock of this server is 5 s behind that of database. Synchronize the clock (NTP)",
        "Error the clock of this server is 30 s ahead of that of database: it is not ready, and takes no payments. Synchronize the clock (NTP)",
        "Info the clock of this server agrees with that of database again"
      ])
    }).pipe(Effect.provide(layer))
  })

  it.effect("takes a chain for behind only, since it may mine rarely", () => {
    const others = { database: 0, chain: -3_600 * SECOND, answers: true }
    const { layer, lines } = compared(others)
    return Effect.gen(function* () {
      assert.isTrue(yield* stateAfterRound)
      others.chain = 31 * SECOND
      assert.isFalse(yield* stateAfterRound)
      assert.lengthOf(lines, 1)
      assert.match(lines[0]!, /31 s behind that of eip155:196: it is not ready/)
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps the last state while a clock does not answer", () => {
    const others = { database: 60 * SECOND, chain: 0, answers: true }
    const { layer } = compared(others)
    return Effect.gen(function* () {
      assert.isFalse(yield* stateAfterRound)
      others.answers = false
      others.database = 0
      assert.isFalse(yield* stateAfterRound)
      yield* TestClock.adjust("1 minute")
      others.answers = true
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* stateAfterRound)
    }).pipe(Effect.provide(layer))
  })
})
