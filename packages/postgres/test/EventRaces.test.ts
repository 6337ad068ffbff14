import {
  type EventDraft,
  EventStore,
  type Position,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Random } from "effect"
import { layerTestPostgres } from "./support/TestPostgres.ts"

/** Number of ack-alls that race with the writers. */
const ACK_ALLS = 100
const WRITERS = 4
/** Events added per second while pages are read, and for how long. */
const RATE = 200
const PAGING_MILLIS = 4_000

const makeTenant = Effect.gen(function* () {
  const tenants = yield* TenantStore
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  return tenantId
})

const draftOf = (tenantId: string): Effect.Effect<EventDraft> =>
  Effect.map(Uuid.next, (id) => ({
    tenantId,
    type: "email.received",
    source: "smtp",
    service: "email",
    resourceId: id,
    agentId: id,
    payload: {},
    dedupeKey: id
  }))

/** The current time of the store's clock, which sets createdAt of events. */
const storeNow = Effect.gen(function* () {
  const { sql } = yield* Database
  const [row] = yield* sql<{ readonly now: bigint }>`select epoch_millis() as now`
  return Timestamp.Timestamp.make(Number(row?.now))
})

const allEvents = (tenantId: string) =>
  Effect.flatMap(EventStore, (store) => store.list(tenantId, {}, undefined, 100_000))

layer(Layer.provideMerge(Postgres.layer, layerTestPostgres()), { excludeTestServices: true })(
  "events that pour in",
  (it) => {
    /**
     * Stores events continuously: in transactions that stay open for a while, in ones that roll back, and
     * outside transactions.
     */
    const write = Effect.fnUntraced(function* (tenantId: string) {
      const store = yield* EventStore
      const { transact } = yield* Transactor
      const kind = yield* Random.nextIntBetween(0, 4)
      const drafts = yield* Effect.replicateEffect(draftOf(tenantId), yield* Random.nextIntBetween(1, 4))
      const appended = store.append(drafts)
      if (kind === 0) return yield* appended
      const open = Effect.tap(appended, () => Effect.sleep(kind * 10))
      return yield* kind === 1
        ? Effect.ignore(transact(Effect.andThen(open, Effect.fail("rolled back"))))
        : transact(open)
    })

    it.effect(
      "are acknowledged exactly up to the cutoff by each of 100 ack-alls",
      () =>
        Effect.gen(function* () {
          const store = yield* EventStore
          const tenantId = yield* makeTenant
          const writing = yield* Effect.forkScoped(
            Effect.forEach(Array.from({ length: WRITERS }), () => Effect.forever(write(tenantId)), {
              concurrency: "unbounded"
            })
          )
          const cutoffs: Array<{ readonly before: Timestamp.Timestamp; readonly count: number }> = []
          for (let index = 0; index < ACK_ALLS; index++) {
            const before = yield* storeNow
            cutoffs.push({ before, count: yield* store.acknowledgeAll(tenantId, { before }) })
            const open = yield* store.list(tenantId, { statuses: ["pending"], to: before }, undefined, 10)
            assert.deepStrictEqual(open, [], `what was created before ${before} and had committed`)
            yield* Effect.sleep(yield* Random.nextIntBetween(0, 20))
          }
          assert.isUndefined(writing.pollUnsafe())
          yield* Fiber.interrupt(writing)

          const events = yield* allEvents(tenantId)
          const last = cutoffs.at(-1)!.before
          for (const { createdAt, eventId, status } of events) {
            assert.strictEqual(status, createdAt < last ? "acknowledged" : "pending", `${eventId}, ${createdAt - last}`)
          }
          // Each ack-all found the events between the previous cutoff and its own: none was added there later.
          cutoffs.forEach(({ before, count }, index) => {
            const from = cutoffs[index - 1]?.before ?? 0
            const between = events.filter(({ createdAt }) => from <= createdAt && createdAt < before)
            assert.strictEqual(count, between.length, `ack-all ${index}`)
          })
          assert.isAbove(events.length, ACK_ALLS)
        }),
      120_000
    )

    it.effect(
      "are acknowledged once each by ack-alls that race each other",
      () =>
        Effect.gen(function* () {
          const store = yield* EventStore
          const tenantId = yield* makeTenant
          const writing = yield* Effect.forkScoped(
            Effect.forEach(Array.from({ length: WRITERS }), () => Effect.forever(write(tenantId)), {
              concurrency: "unbounded"
            })
          )
          const one = Effect.gen(function* () {
            yield* Effect.sleep(yield* Random.nextIntBetween(0, 30))
            const before = yield* storeNow
            return { before, count: yield* store.acknowledgeAll(tenantId, { before }) }
          })
          const ended = yield* Effect.forEach(Array.from({ length: ACK_ALLS }), () => one, { concurrency: 10 })
          yield* Fiber.interrupt(writing)
          const events = yield* allEvents(tenantId)
          const last = Math.max(...ended.map(({ before }) => before))
          const acknowledged = events.filter(({ status }) => status === "acknowledged")
          assert.deepStrictEqual(
            acknowledged,
            events.filter(({ createdAt }) => createdAt < last)
          )
          assert.strictEqual(
            ended.reduce((sum, { count }) => sum + count, 0),
            acknowledged.length
          )
        }),
      120_000
    )

    it.effect(
      "are read page by page, each once and in order, while 200 are added per second",
      () =>
        Effect.gen(function* () {
          const store = yield* EventStore
          const { transact } = yield* Transactor
          const tenantId = yield* makeTenant
          const over = yield* Deferred.make<void>()

          /** Reads pages of `limit` events from the first on, until the last is read and no more are added. */
          const read = Effect.fnUntraced(function* (limit: number) {
            const seen: Array<string> = []
            let after: Position | undefined
            for (;;) {
              const isOver = yield* Deferred.isDone(over)
              const page = yield* store.list(tenantId, {}, after, limit)
              seen.push(...page.map(({ eventId }) => eventId))
              const last = page.at(-1)
              if (last !== undefined) after = { createdAt: last.createdAt, id: last.eventId }
              if (page.length === 0 && isOver) return seen
            }
          })
          const readers = yield* Effect.forEach([1, 7, 100], (limit) => Effect.forkScoped(read(limit)))

          // In single statements and in transactions that stay open; none waits for the previous one.
          const append = (index: number) =>
            Effect.gen(function* () {
              const stored = store.append([yield* draftOf(tenantId)])
              return yield* index % 5 === 0 ? transact(Effect.tap(stored, () => Effect.sleep(5))) : stored
            })
          const appending = yield* Effect.forEach(
            Array.from({ length: (RATE * PAGING_MILLIS) / 1_000 }, (_, index) => index),
            (index) => Effect.delay(Effect.forkScoped(append(index)), 1_000 / RATE)
          )
          yield* Effect.forEach(appending, (fiber) => Fiber.join(fiber))
          yield* Deferred.succeed(over, undefined)

          const events = (yield* allEvents(tenantId)).map(({ eventId }) => eventId)
          assert.strictEqual(events.length, (RATE * PAGING_MILLIS) / 1_000)
          for (const reader of readers) assert.deepStrictEqual(yield* Fiber.join(reader), events)
        }),
      120_000
    )
  }
)
