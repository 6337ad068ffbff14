import { Database, durabilityRisks, layerPostgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestPostgres } from "./support/TestPostgres.ts"

layer(TestPostgres.layer({ settings: { fsync: "off", full_page_writes: "on", synchronous_commit: "on" } }), {
  excludeTestServices: true
})("durabilityRisks", (it) => {
  it.effect("lists the settings that are off, for the server or for the database", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const risks = Effect.provide(durabilityRisks, layerPostgres({ url }), { local: true })
      assert.deepStrictEqual(yield* risks, ["fsync off"])
      yield* Effect.gen(function* () {
        const { sql } = yield* Database
        yield* sql`alter database postgres set synchronous_commit = off`
      }).pipe(Effect.provide(layerPostgres({ url }), { local: true }))
      assert.deepStrictEqual(yield* risks, ["fsync off", "synchronous_commit off"])
    })
  )
})
