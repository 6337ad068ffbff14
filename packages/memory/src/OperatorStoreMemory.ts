import { OperatorStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/** Operators in memory. */
export const layer = Layer.effect(
  OperatorStore,
  Effect.map(MemoryDatabase, ({ run, tables: { operators } }) =>
    OperatorStore.of({
      list: run(() => operators.rows().toSorted((a, b) => (a.name < b.name ? -1 : 1))),
      add: (operator) =>
        run(() => {
          if (operators.has(operator.name)) return false
          operators.set(operator.name, operator)
          return true
        }),
      rotate: (name, token) =>
        run(() => {
          const operator = operators.get(name)
          if (operator === undefined) return false
          operators.set(name, { ...operator, ...token })
          return true
        }),
      remove: (name) =>
        run(() => {
          const found = operators.has(name)
          operators.delete(name)
          return found
        })
    })
  )
)
