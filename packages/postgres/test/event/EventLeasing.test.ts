import { EventStore, TenantStore, Timestamp, Uuid, walletAddress } from "@agentos/core"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { TestPostgres } from "../support/TestPostgres.ts"

/** Stores an event, and returns its tenant. */
const appendOne = Effect.gen(function* () {
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  yield* (yield* TenantStore).ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  yield* (yield* EventStore).append([
    {
      tenantId,
      type: "email.received",
      source: "smtp",
      service: "email",
      resourceId: tenantId,
      agentId: "an agent",
      payload: {},
      dedupeKey: tenantId
    }
  ])
  return tenantId
})

// A commit that waits for this standby never ends.
layer(TestPostgres.layer({ settings: { synchronous_standby_names: "missing", synchronous_commit: "local" } }), {
  excludeTestServices: true
})("the lease of an event", (it) => {
  it.effect("waits for no disk and no standby, and the acknowledgement does", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const open = Layer.provideMerge(Postgres.layer, layerPostgres({ url }))
      const tenantId = yield* Effect.provide(appendOne, open, { local: true })
      const sql = yield* PgClient.make({ url, maxConnections: 1 })
      yield* sql`alter database postgres set synchronous_commit = on`
      yield* Effect.gen(function* () {
        const events = yield* EventStore
        const sessionId = yield* Uuid.next
        const [[delivery] = []] = yield* events.leaseEach([{ tenantId, sessionId, limit: 1 }])
        const { deliveryId, event } = delivery!
        assert.lengthOf(yield* events.renew([sessionId]), 1)

        const acknowledging = yield* Effect.forkChild(
          events.acknowledgeEach([{ tenantId, eventId: event.eventId, deliveryId }])
        )
        const waits = sql<{ readonly waits: boolean }>`
          select exists (select from pg_stat_activity where wait_event = 'SyncRep') as waits`
        yield* Effect.repeat(waits, { until: ([row]) => row?.waits === true, schedule: Schedule.spaced("20 millis") })
        assert.isUndefined(acknowledging.pollUnsafe())
        // Cancels the wait. The transaction has committed.
        yield* sql`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`
        assert.deepStrictEqual(yield* Fiber.join(acknowledging), ["acknowledged"])
      }).pipe(Effect.provide(open, { local: true }))
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})
