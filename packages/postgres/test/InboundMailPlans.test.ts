import { InboundMailStore } from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { plansOf } from "./support/Plans.ts"
import { seeding } from "./support/Seeding.ts"
import { layerTestPostgres } from "./support/TestPostgres.ts"

/** Mails that were delivered and are kept, and mails that nobody could deliver. */
const DELIVERED = 50_000
const UNDELIVERABLE = 20
const VISITED_MAX = 500

const seed = Effect.fnUntraced(function* (count: number, completed: boolean) {
  const { sql } = yield* Database
  yield* seeding(sql`
    insert into inbound_mails (inbound_mail_id, envelope, raw, received_at, attempts, completed)
    select gen_random_uuid(), '{}', '', n, 1000, ${completed} from generate_series(1, ${count}::bigint) n`)
})

layer(Layer.provideMerge(Postgres.layer, layerTestPostgres({ settings: { autovacuum: "off" } })), {
  excludeTestServices: true
})("with 50,000 mails delivered and kept", (it) => {
  it.effect("those that can't be delivered are found as fast as ever, with no statistics and with good ones", () =>
    Effect.gen(function* () {
      const store = yield* InboundMailStore
      const { sql } = yield* Database
      yield* seed(DELIVERED, true)
      for (const statistics of [Effect.void, sql`vacuum analyze inbound_mails`]) {
        yield* seed(UNDELIVERABLE, false)
        yield* statistics
        for (const left of [UNDELIVERABLE, 0]) {
          let given: ReadonlyArray<string> = []
          const giveUp = store.giveUp({ age: 1, attempts: 100, limit: 50 })
          const [plan] = yield* plansOf(Effect.map(giveUp, (ids) => (given = ids)))
          assert.strictEqual(given.length, left)
          assert.deepStrictEqual(plan?.wholeTables, [])
          assert.isTrue(plan?.indexes.has("inbound_mails_waiting"), plan?.text)
          assert.isAtMost(plan?.rowsVisited ?? VISITED_MAX + 1, VISITED_MAX)
        }
      }
    })
  )
})
