import { EventSignal, EventStore, TenantStore, Timestamp, Transactor, Uuid, walletAddress } from "@agentos/core"
import { Database, layerPostgres, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Array, Context, Effect, Layer, Queue } from "effect"
import { TestPostgres } from "./support/TestPostgres.ts"

/** The stores of one server of several on a database. */
const startServer = Effect.flatMap(TestPostgres, ({ url }) =>
  Layer.build(Layer.fresh(Layer.provideMerge(Postgres.layer, layerPostgres({ url, maxConnections: 2 }))))
)

const appendTo = Effect.fnUntraced(function* (tenantIds: ReadonlyArray<string>) {
  const store = yield* EventStore
  const drafts = yield* Effect.forEach(tenantIds, (tenantId) =>
    Effect.map(Uuid.next, (id) => ({
      tenantId,
      type: "email.received" as const,
      source: "smtp",
      service: "email",
      resourceId: id,
      agentId: id,
      payload: {},
      dedupeKey: id
    }))
  )
  yield* store.append(drafts)
})

const makeTenant = Effect.gen(function* () {
  const tenants = yield* TenantStore
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  return tenantId
})

layer(TestPostgres.layer(), { excludeTestServices: true })("announcements", (it) => {
  it.effect("reach the sessions of every server, of a thousand tenants in one transaction too", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* startServer, yield* startServer]
      const tenantIds = yield* Effect.forEach(Array.range(1, 1_000), () => makeTenant).pipe(Effect.provide(here))
      const queues = yield* Effect.forEach(tenantIds, Context.get(there, EventSignal).subscribe)
      yield* Effect.provide(appendTo(tenantIds), here)
      yield* Effect.forEach(queues, Queue.take, { concurrency: "unbounded", discard: true })
    })
  )

  it.effect("are made up for when the connection that listens was lost", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* startServer, yield* startServer]
      const tenantId = yield* Effect.provide(makeTenant, here)
      const queue = yield* Context.get(there, EventSignal).subscribe(tenantId)
      const { sql } = Context.get(here, Database)
      const ended = yield* sql`
        select pg_terminate_backend(pid) from pg_stat_activity where query like 'LISTEN%' and pid <> pg_backend_pid()`
      assert.strictEqual(ended.length, 2)
      yield* Queue.take(queue)
      yield* Effect.provide(appendTo([tenantId]), here)
      yield* Queue.take(queue)
      assert.isTrue(yield* Context.get(there, Transactor).ready)
    })
  )
})
