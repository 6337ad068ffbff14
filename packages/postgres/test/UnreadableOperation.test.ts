import { OperationStore } from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { claimed, LEASE } from "./support/Seeding.ts"
import { layerTestPGlite } from "./support/TestPGlite.ts"

layer(Layer.provideMerge(Postgres.layer, layerTestPGlite), { excludeTestServices: true })("takeDue", (it) => {
  it.effect("skips an operation that this server can't read, and takes the others", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      const store = yield* OperationStore
      const [newer, own] = [yield* claimed, yield* claimed]
      // As written by a server of a later version on the same database.
      yield* sql`update operations set service_id = 'fax.send' where operation_id = ${newer.operationId}`
      for (const { fence, operationId } of [newer, own])
        yield* store.setNextAttempt(operationId, fence, { kind: "scheduled", millis: 0 })
      const taken = yield* store.takeDue(10, LEASE)
      assert.deepStrictEqual(
        taken.map(({ operationId }) => operationId),
        [own.operationId]
      )
    })
  )
})
