import { Timestamp } from "@agentos/core"
import { type StoragePorts, StoreClock, type StoreHarness } from "@agentos/core/contract-tests"
import { Memory } from "@agentos/memory"
import type { GasTransactionStore } from "@agentos/x402/GasTransactionStore"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

/** Effect's TestClock as the stores' clock. It stands still unless it is advanced. */
const clock = Layer.effect(
  StoreClock,
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.UTC(2026, 10, 21))
    return StoreClock.of({
      now: Timestamp.now,
      advance: (millis) => Effect.flatMap(Timestamp.now, (now) => TestClock.setTime(now + millis))
    })
  })
).pipe(Layer.provideMerge(TestClock.layer()))

export const memoryHarness: StoreHarness<StoragePorts | GasTransactionStore> = {
  name: "memory",
  layer: Layer.merge(Memory.layer, clock),
  capabilities: {
    concurrentTransactions: { unsupported: "in memory one transaction runs after the other" },
    propertyRuns: 200
  }
}
