import { Transactor } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/** Transactions in memory, one after the other. A nested one is part of the one around it. */
export const layer = Layer.effect(
  Transactor,
  Effect.map(MemoryDatabase, ({ transact }) => Transactor.of({ transact, ready: Effect.succeed(true) }))
)
