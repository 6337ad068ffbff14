import { Database, layerPostgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Redacted } from "effect"
import { silentForwarder } from "./support/SilentForwarder.ts"
import { TestPostgres } from "./support/TestPostgres.ts"

layer(TestPostgres.layer(), { excludeTestServices: true })("statements that share a connection", (it) => {
  it.effect("are sent before the one before them is answered", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const at = new URL(Redacted.value(url))
      const forwarder = yield* silentForwarder(Number(at.port))
      at.host = `127.0.0.1:${forwarder.port}`
      yield* Effect.gen(function* () {
        const { delivery, sql } = yield* Database
        for (const client of [sql, delivery]) yield* client`select 1`
        const sent = yield* Effect.forkChild(
          forwarder.sentUnanswered("select 'first'", "select 'second'", "select 'third'", "select 'fourth'"),
          { startImmediately: true }
        )
        const statements = yield* Effect.forkChild(
          Effect.all([sql`select 'first'`, sql`select 'second'`, delivery`select 'third'`, delivery`select 'fourth'`], {
            concurrency: "unbounded"
          })
        )
        yield* Fiber.join(sent)
        assert.isUndefined(statements.pollUnsafe())
        forwarder.stop()
        assert.isTrue(Exit.isFailure(yield* Fiber.await(statements)))
      }).pipe(Effect.provide(layerPostgres({ url: Redacted.make(at.href), maxConnections: 1 })))
    }).pipe(Effect.scoped)
  )
})
