import { OperationStore } from "@agentos/core"
import { layerPostgres, OperationStorePostgres } from "@agentos/postgres"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient } from "effect/sql"
import { createTenants } from "../src/migration/0001_tenants.ts"
import { createEvents } from "../src/migration/0002_events.ts"
import { createPayments } from "../src/migration/0003_payments.ts"
import { createEmail } from "../src/migration/0004_email.ts"
import { TestPostgres } from "./support/TestPostgres.ts"

/** The schema before the completion job existed. */
const beforeCompletion = Migrator.fromRecord({
  "0001_tenants": createTenants,
  "0002_events": createEvents,
  "0003_payments": createPayments,
  "0004_email": createEmail
})

const TENANT = "00000000-0000-4000-8000-000000000000"
const ASSET = `0x${"Ab".repeat(20)}`
const FAR = 8_000_000_000_000

const PROOF = JSON.stringify({ value: "1" })

/** Operations as an older server left them: by state, and until when they are leased. */
const LEFT: ReadonlyArray<readonly [id: string, state: string, leasedUntil: number | null]> = [
  ["10000000-0000-4000-8000-000000000001", "claimed", FAR],
  ["10000000-0000-4000-8000-000000000002", "settling", null],
  ["10000000-0000-4000-8000-000000000003", "fulfilling", 1_000],
  ["10000000-0000-4000-8000-000000000004", "refused", null],
  ["10000000-0000-4000-8000-000000000005", "refund_due", null],
  ["20000000-0000-4000-8000-000000000001", "fulfilled", FAR],
  ["20000000-0000-4000-8000-000000000002", "unpaid", null],
  ["20000000-0000-4000-8000-000000000003", "refunded", null]
]

/** Sets up an older server's database with operations in it. */
const leaveOperations = Effect.gen(function* () {
  const { url } = yield* TestPostgres
  const sql = yield* PgClient.make({ url })
  yield* Effect.provideService(
    Migrator.make({})({ loader: beforeCompletion, table: "agentos_migrations" }),
    SqlClient.SqlClient,
    sql
  )
  yield* sql`insert into tenants (tenant_id, wallet, token_version, created_at) values (${TENANT}, '0x01', 1, 0)`
  for (const [id, state, leasedUntil] of LEFT) {
    yield* sql`
      insert into operations (
        operation_id, tenant_id, service_id, endpoint, idempotency_key, fingerprint, request_id,
        network, asset, payer, nonce, amount, proof, terms, input, plan, state,
        fence, leased_until, created_at, updated_at
      ) values (
        ${id}, ${TENANT}, 'email.mailbox.create', 'POST /', ${id}, '', '', 'eip155:196', lower(${ASSET}::text), '0x01',
        ${id}, 1, ${PROOF}, '{"amount":"1"}', '{}', '{}', ${state}, 3, ${leasedUntil}::bigint, 0, 0
      )`
  }
  yield* sql`
    insert into ledger_entries (operation_id, account, network, asset, amount, created_at)
    values (${LEFT[0]![0]}, 'received', 'eip155:196', ${ASSET}, -1, 0)`
}).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

describe("a database of an older server", () => {
  it.live("passes its open operations to the completion job, and no final one", () =>
    Effect.gen(function* () {
      yield* leaveOperations
      const { url } = yield* TestPostgres
      yield* Effect.gen(function* () {
        const store = yield* OperationStore
        const taken = yield* store.takeDue(100, 60_000)
        const lapsed = LEFT.filter(([id, , leasedUntil]) => id.startsWith("1") && leasedUntil !== FAR)
        assert.sameDeepMembers(
          taken.map(({ fence, operationId, state }) => [operationId, state, fence]),
          lapsed.map(([id, state]) => [id, state, 4])
        )
        assert.strictEqual(taken[0]?.operationId, LEFT[2]![0], "whose lease is over has waited longest")

        for (const [id, state] of LEFT.filter(([, , leasedUntil]) => leasedUntil === FAR)) {
          const { dueAt, fence, leasedUntil } = Option.getOrThrow(yield* store.find(id))
          const due = state === "claimed" ? FAR : null
          assert.deepStrictEqual<unknown>([dueAt, leasedUntil, fence], [due, due, 3], state)
        }
        assert.deepStrictEqual((yield* store.books).balances, [
          { account: "received", network: "eip155:196", asset: ASSET.toLowerCase(), amount: -1n }
        ])
      }).pipe(Effect.provide(Layer.provide(OperationStorePostgres.layer, layerPostgres({ url }))))
    }).pipe(Effect.provide(TestPostgres.layer()))
  )
})
