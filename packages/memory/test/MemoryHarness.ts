import { StoreClock, type StoreHarness } from "@agentos/contract-tests"
import { Timestamp } from "@agentos/core"
import {
  EventSignalMemory,
  EventStoreMemory,
  MemoryDatabase,
  OperationStoreMemory,
  TenantStoreMemory,
  TransactorMemory
} from "@agentos/memory"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

/** Effect's TestClock as the stores' clock. It stands still unless it is moved. */
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

const stores = Layer.mergeAll(
  EventSignalMemory.layer,
  EventStoreMemory.layer,
  OperationStoreMemory.layer,
  TenantStoreMemory.layer,
  TransactorMemory.layer
).pipe(Layer.provide(MemoryDatabase.layer))

export const memoryHarness = {
  name: "memory",
  layer: Layer.merge(stores, clock),
  capabilities: { concurrentTransactions: { unsupported: "in memory one transaction runs after the other" } }
} satisfies StoreHarness<never>
