import { type EventDraft, EventStore, TenantStore, Timestamp, Transactor, Uuid, walletAddress } from "@agentos/core"
import { Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { layerTestPostgres } from "../support/TestPostgres.ts"

const makeTenant = Effect.gen(function* () {
  const tenants = yield* TenantStore
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  return yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
})

const draftOf = (tenantId: string): Effect.Effect<EventDraft> =>
  Effect.map(Uuid.next, (dedupeKey) => ({
    tenantId,
    type: "email.received",
    source: "smtp",
    service: "email",
    resourceId: dedupeKey,
    agentId: "an agent",
    payload: {},
    dedupeKey
  }))

const append = Effect.fnUntraced(function* (tenantId: string) {
  const store = yield* EventStore
  return yield* store.append([yield* draftOf(tenantId)])
})

layer(Layer.provideMerge(Postgres.layer, layerTestPostgres()), { excludeTestServices: true })(
  "appends that overlap, on a server",
  (it) => {
    it.effect("are not delayed by a transaction that has locked the tenant of one of them", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const tenants = yield* TenantStore
        const [held, free] = [yield* makeTenant, yield* makeTenant]
        const [locked, proceed] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holder = yield* Effect.forkChild(
          transact(
            Effect.gen(function* () {
              yield* tenants.lock([held.tenantId])
              yield* Deferred.succeed(locked, undefined)
              yield* Deferred.await(proceed)
              return yield* append(held.tenantId)
            })
          )
        )
        yield* Deferred.await(locked)
        const waiting = yield* Effect.forkChild(append(held.tenantId))
        const others = yield* Effect.replicateEffect(append(free.tenantId), 20, { concurrency: "unbounded" })
        assert.strictEqual(others.flat().length, 20)
        assert.isUndefined(waiting.pollUnsafe())
        yield* Deferred.succeed(proceed, undefined)
        const [[first], [second]] = [yield* Fiber.join(holder), yield* Fiber.join(waiting)]
        assert.isTrue(first!.createdAt <= second!.createdAt && first!.eventId < second!.eventId)
      })
    )

    it.effect("are stored although the tenant of one of them does not exist", () =>
      Effect.gen(function* () {
        const { tenantId } = yield* makeTenant
        const nobody = yield* Uuid.next
        const exits = yield* Effect.forEach(
          [tenantId, nobody, tenantId, nobody, tenantId],
          (each) => Effect.exit(append(each)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true, false, true])
        assert.isTrue(exits.filter(Exit.isFailure).every(Exit.hasDies))
        const store = yield* EventStore
        assert.strictEqual((yield* store.list(tenantId, {}, undefined, 10)).length, 3)
      })
    )

    it.effect("of several tenants store nothing if one tenant does not exist, even if the transaction continues", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const store = yield* EventStore
        const { tenantId } = yield* makeTenant
        const drafts = [yield* draftOf(tenantId), yield* draftOf(yield* Uuid.next)]
        const exit = yield* transact(Effect.exit(store.append(drafts)))
        assert.isTrue(Exit.hasDies(exit))
        assert.deepStrictEqual(yield* store.list(tenantId, {}, undefined, 10), [])
      })
    )
  }
)
