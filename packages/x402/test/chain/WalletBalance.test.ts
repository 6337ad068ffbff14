import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { TestClock } from "effect/testing"
import { watchBalance } from "../../src/chain/WalletBalance.ts"

describe("the balance of a wallet", () => {
  it.effect("is read every minute, and stays as it was while the chain does not answer", () =>
    Effect.gen(function* () {
      const answers = ["1000", undefined, "12.5"]
      const read = Effect.suspend(() => {
        const answer = answers.shift()
        return answer === undefined ? Effect.fail("no answer") : Effect.succeed(answer)
      })
      yield* watchBalance(Metric.gauge("wallet_usdt"), read)
      const seen: Array<string | undefined> = []
      for (let minutes = 0; minutes <= 2; minutes++) {
        yield* TestClock.adjust("1 second")
        const series = yield* PrometheusMetrics.format()
        seen.push(/^wallet_usdt (.+)$/m.exec(series)?.[1])
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(seen, ["1000", "1000", "12.5"])
    }).pipe(Effect.scoped, Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
