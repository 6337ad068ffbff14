import {
  DEFAULT_EVENT_POLICY,
  EventStore,
  InboundMailStore,
  TenantStore,
  Timestamp,
  Transactor,
  walletAddress
} from "@agentos/core"
import { Memory } from "@agentos/memory"
import { assert, describe, it, layer } from "@effect/vitest"
import { Array, Context, Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

const TENANT = "0199a0b0-0000-7000-8000-000000000001"

/** Stores an event of the tenant with this key, unless one exists. */
const append = Effect.fnUntraced(function* (dedupeKey: string) {
  const store = yield* EventStore
  const tenants = yield* TenantStore
  const wallet = walletAddress(`0x${"0".repeat(40)}`)
  yield* tenants.ensure({ tenantId: TENANT, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  return yield* store.append([
    {
      tenantId: TENANT,
      type: "email.received",
      source: "smtp",
      service: "email",
      resourceId: "message",
      agentId: "mailbox",
      payload: {},
      dedupeKey
    }
  ])
})

/** Returns which of the events with these keys are stored: a used key stores nothing. */
const stored = (...keys: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { transact } = yield* Transactor
    const taken = Effect.filter(keys, (key) => Effect.map(append(key), (events) => events.length === 0))
    // Rolled back, so that the check changes nothing.
    return yield* Effect.flip(transact(Effect.flatMap(taken, Effect.fail)))
  })

const fresh = Layer.fresh(Memory.layer)

describe("MemoryDatabase", () => {
  it.effect("runs transactions in the order in which they were requested", () =>
    Effect.gen(function* () {
      const { transact } = yield* Transactor
      const order: Array<number> = []
      const gate = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(transact(Deferred.await(gate)))
      yield* Effect.yieldNow
      const others = yield* Effect.forEach(Array.range(1, 10), (n) =>
        Effect.forkChild(
          transact(
            Effect.andThen(
              Effect.yieldNow,
              Effect.sync(() => order.push(n))
            )
          )
        )
      )
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* Fiber.joinAll(others)
      assert.deepStrictEqual(order, Array.range(1, 10))
    }).pipe(Effect.provide(fresh))
  )

  it.effect("includes the statements of fibers inside a transaction in it", () =>
    Effect.gen(function* () {
      const { transact } = yield* Transactor
      const both = Effect.all([append("a"), Effect.andThen(Effect.yieldNow, transact(append("b")))], {
        concurrency: "unbounded"
      })
      yield* Effect.exit(transact(Effect.andThen(both, Effect.fail("no"))))
      assert.deepStrictEqual(yield* stored("a", "b"), [])
      yield* transact(both)
      assert.deepStrictEqual(yield* stored("a", "b"), ["a", "b"])
    }).pipe(Effect.provide(fresh))
  )

  it.effect("treats a fiber that outlives its transaction as outside of it", () =>
    Effect.gen(function* () {
      const { transact } = yield* Transactor
      const gate = yield* Deferred.make<void>()
      const late = yield* transact(
        Effect.andThen(append("early"), Effect.forkDetach(Effect.andThen(Deferred.await(gate), append("late"))))
      )
      yield* Effect.exit(
        transact(
          Effect.gen(function* () {
            yield* append("other")
            yield* Deferred.succeed(gate, undefined)
            for (const _ of Array.range(1, 5)) yield* Effect.yieldNow
            assert.isUndefined(late.pollUnsafe(), "it waits for its turn")
            return yield* Effect.fail("no")
          })
        )
      )
      yield* Fiber.join(late)
      assert.deepStrictEqual(yield* stored("early", "late", "other"), ["early", "late"])
    }).pipe(Effect.provide(fresh))
  )

  it.effect("is independent of another database, even inside its transactions", () =>
    Effect.gen(function* () {
      const one = yield* Layer.build(fresh)
      const two = yield* Layer.build(fresh)
      const inOne = <A, E>(effect: Effect.Effect<A, E, EventStore | TenantStore>) =>
        Context.get(one, Transactor).transact(Effect.provideContext(effect, one))
      const inTwo = <A, E>(effect: Effect.Effect<A, E, EventStore | TenantStore>) =>
        Context.get(two, Transactor).transact(Effect.provideContext(effect, two))
      yield* Effect.exit(
        inOne(
          Effect.gen(function* () {
            yield* append("a")
            yield* inTwo(Effect.andThen(append("b"), inOne(append("c"))))
            return yield* Effect.fail("no")
          })
        )
      )
      assert.deepStrictEqual(yield* Effect.provideContext(stored("a", "b", "c"), one), [])
      assert.deepStrictEqual(yield* Effect.provideContext(stored("a", "b", "c"), two), ["b"])
    })
  )

  it.effect("keeps its own copy of a mail's bytes", () =>
    Effect.gen(function* () {
      const store = yield* InboundMailStore
      const raw = new Uint8Array([1, 2, 3])
      const envelope = { mailFrom: "", rcptTo: [], remoteAddress: "", helo: "", secure: true }
      const mail = { inboundMailId: "mail", envelope, raw, receivedAt: yield* Timestamp.now, attempts: 0 }
      yield* store.add([{ mail, mailboxIds: [] }])
      raw.fill(0)
      const [leased] = yield* store.lease(1, 1_000)
      assert.deepStrictEqual(yield* Stream.runCollect(store.readPieces(leased!.inboundMailId)), [
        new Uint8Array([1, 2, 3])
      ])
    }).pipe(Effect.provide(fresh))
  )
})

layer(fresh)("EventStoreMemory, to the millisecond", (it) => {
  const { leaseDuration, retention } = DEFAULT_EVENT_POLICY

  it.effect("uses the default policy if none is given: leases last to their end, events to their expiry", () =>
    Effect.gen(function* () {
      const store = yield* EventStore
      const [event] = yield* append("key")
      assert.strictEqual(event!.expiresAt - event!.createdAt, retention)
      yield* store.lease(TENANT, "session", 1)
      yield* TestClock.adjust(leaseDuration - 1)
      assert.deepStrictEqual(yield* store.lease(TENANT, "other", 1), [])
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* store.lease(TENANT, "other", 1)).length, 1)

      yield* TestClock.adjust(retention - leaseDuration - 1)
      assert.strictEqual(yield* store.countReplayable(TENANT, 9), 1)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* store.countReplayable(TENANT, 9), 0)
      const found = yield* store.find(TENANT, event!.eventId)
      assert.strictEqual(found._tag === "Owned" && found.value.status, "expired")
    })
  )
})
