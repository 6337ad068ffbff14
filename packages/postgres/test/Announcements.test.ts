import {
  EventSignal,
  EventStore,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  type WakeUp,
  walletAddress
} from "@agentos/core"
import { Database, layerPostgres, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Array, Context, Effect, Layer, Queue } from "effect"
import { TestPostgres } from "./support/TestPostgres.ts"

/** The stores of one of several servers on a database. */
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

/** Collects every wake-up from now on. */
const listenTo = Effect.fnUntraced(function* (signal: typeof EventSignal.Service) {
  const wakeUps = yield* Queue.unbounded<WakeUp>()
  yield* signal.listen((wakeUp) => Queue.offerUnsafe(wakeUps, wakeUp))
  return wakeUps
})

layer(TestPostgres.layer(), { excludeTestServices: true })("announcements", (it) => {
  it.effect("reach the sessions of every server, even for a thousand tenants in one transaction", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* startServer, yield* startServer]
      const tenantIds = yield* Effect.forEach(Array.range(1, 1_000), () => makeTenant).pipe(Effect.provide(here))
      const wakeUps = yield* listenTo(Context.get(there, EventSignal))
      yield* Effect.provide(appendTo(tenantIds), here)
      const missing = new Set(tenantIds)
      while (missing.size > 0) for (const tenantId of yield* Queue.take(wakeUps)) missing.delete(tenantId)
    })
  )

  it.effect("are compensated by waking every session after the listening connection was lost", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* startServer, yield* startServer]
      const tenantId = yield* Effect.provide(makeTenant, here)
      const wakeUps = yield* listenTo(Context.get(there, EventSignal))
      const { sql } = Context.get(here, Database)
      const ended = yield* sql`
        select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'agentos events'`
      assert.strictEqual(ended.length, 2)
      assert.strictEqual(yield* Queue.take(wakeUps), "all")
      yield* Effect.provide(appendTo([tenantId]), here)
      assert.deepStrictEqual(yield* Queue.take(wakeUps), [tenantId])
      assert.isTrue(yield* Context.get(there, Transactor).ready)
    })
  )
})
