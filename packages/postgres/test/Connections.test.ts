import { countConnections, layerPostgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestPostgres } from "./support/TestPostgres.ts"

layer(TestPostgres.layer({ settings: { max_connections: "37" } }), { excludeTestServices: true })(
  "countConnections",
  (it) => {
    it.effect("counts the connections of all programs, and returns the server's limit", () =>
      Effect.gen(function* () {
        const { url } = yield* TestPostgres
        const open = layerPostgres({ url, maxConnections: 2 })
        const both = Effect.gen(function* () {
          const { byState, limit } = yield* countConnections
          assert.strictEqual(limit, 37)
          return byState.reduce((total, { count }) => total + count, 0)
        })
        const alone = yield* Effect.provide(both, open, { local: true })
        const beside = yield* both.pipe(
          Effect.provide(open, { local: true }),
          (inner) => Effect.andThen(countConnections, inner),
          Effect.provide(open, { local: true })
        )
        assert.isAtLeast(alone, 2, "one for statements, and one that listens")
        assert.isAtLeast(beside, alone + 1)
      })
    )

    it.effect("names each connection's purpose", () =>
      Effect.gen(function* () {
        const { url } = yield* TestPostgres
        const { byState } = yield* Effect.provide(countConnections, layerPostgres({ url }), { local: true })
        const states = byState.map(({ state }) => state)
        assert.include(states, "active", "it asks, itself")
        for (const state of states) assert.match(state, /^(?:active|idle|idle in transaction.*|unknown)$/)
      })
    )
  }
)
