import { InboundMailStore } from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { plansOf } from "./support/Plans.ts"
import { seeding } from "./support/Seeding.ts"
import { layerTestPostgres } from "./support/TestPostgres.ts"

/** Numbers of mails that were delivered and kept, that could not be delivered, and that were staged but never added. */
const DELIVERED = 50_000
const UNDELIVERABLE = 20
const STAGED = 30
const VISITED_MAX = 500

const seed = Effect.fnUntraced(function* (count: number, state: "completed" | "waiting" | "staged") {
  const { sql } = yield* Database
  yield* seeding(sql`
    insert into inbound_mails (inbound_mail_id, envelope, raw, received_at, attempts, completed, staged)
    select gen_random_uuid(), '{}', '', n, 1000, ${state === "completed"}, ${state === "staged"} from generate_series(1, ${count}::bigint) n`)
})

layer(Layer.provideMerge(Postgres.layer, layerTestPostgres({ settings: { autovacuum: "off" } })), {
  excludeTestServices: true
})("with 50,000 mails delivered and kept", (it) => {
  it.effect(
    "undeliverable and staged mails are found without visiting the delivered ones, with and without statistics",
    () =>
      Effect.gen(function* () {
        const store = yield* InboundMailStore
        const { sql } = yield* Database
        yield* seed(DELIVERED, "completed")
        for (const statistics of [Effect.void, sql`vacuum analyze inbound_mails`]) {
          yield* seed(UNDELIVERABLE, "waiting")
          yield* seed(STAGED, "staged")
          yield* statistics
          const giveUp = Effect.map(store.giveUp({ age: 1, attempts: 100, limit: 50 }), (ids) => ids.length)
          const removeStaged = store.removeStaged({ age: 1, limit: 50 })
          for (const [remove, left] of [
            [giveUp, UNDELIVERABLE],
            [giveUp, 0],
            [removeStaged, STAGED],
            [removeStaged, 0]
          ] as const) {
            let removed = 0
            const [plan] = yield* plansOf(Effect.map(remove, (count) => (removed = count)))
            assert.strictEqual(removed, left)
            assert.deepStrictEqual(plan?.wholeTables, [])
            assert.isTrue(plan?.indexes.has("inbound_mails_waiting"), plan?.text)
            assert.isAtMost(plan?.rowsVisited ?? VISITED_MAX + 1, VISITED_MAX)
          }
        }
      })
  )
})
