import { EventSignal, EventStore, Transactor } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Deferred, Effect, Exit, Fiber, Option, Queue, Scope } from "effect"
import { type ContractTests, needing } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import * as Sample from "./EventSample.ts"

/** A queue of at most one wake-up of the tenant, until the scope closes. */
const subscribe = Effect.fnUntraced(function* (tenantId: string) {
  const signal = yield* EventSignal
  const queue = yield* Queue.dropping<void>(1)
  yield* signal.listen((wakeUp) => {
    if (wakeUp === "all" || wakeUp.includes(tenantId)) Queue.offerUnsafe(queue, undefined)
  })
  return queue
})

/**
 * Waits until the wake-ups of all earlier commits have arrived: it wakes a new tenant, and wake-ups arrive in
 * the order of commits.
 */
const settled = Effect.scoped(
  Effect.gen(function* () {
    const { tenantId } = yield* Fresh.tenant
    const queue = yield* subscribe(tenantId)
    yield* Sample.append(tenantId, 1)
    yield* Queue.take(queue)
  })
)

/** Removes the wake-ups from the queue and returns their number. */
const waiting = Effect.fnUntraced(function* (queue: Queue.Dequeue<void>) {
  yield* settled
  let count = 0
  while (Option.isSome(yield* Queue.poll(queue))) count++
  return count
})

/** Tests of `EventSignal`, and of the stores that wake it. */
export const eventSignalTests: ContractTests<EventStore | EventSignal> = (it, capabilities) => {
  describe("EventSignal", () => {
    it.effect("wakes every listener of the tenant after an event was stored, and of no other tenant", () =>
      Effect.gen(function* () {
        const one = yield* Fresh.tenant
        const two = yield* Fresh.tenant
        const [a, b, other] = yield* Effect.all([
          subscribe(one.tenantId),
          subscribe(one.tenantId),
          subscribe(two.tenantId)
        ])
        yield* Sample.append(one.tenantId, 1)
        yield* Queue.take(a)
        yield* Queue.take(b)
        assert.strictEqual(yield* waiting(other), 0)
        assert.strictEqual(yield* waiting(a), 0)
      })
    )

    it.effect("wakes a listener that is already waiting", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const queue = yield* subscribe(tenantId)
        const waiter = yield* Effect.forkChild(
          Effect.andThen(Queue.take(queue), store.lease(tenantId, yield* Fresh.id, 9))
        )
        yield* Effect.yieldNow
        const stored = yield* Sample.append(tenantId, 2)
        const deliveries = yield* Fiber.join(waiter)
        assert.deepStrictEqual(
          deliveries.map((delivery) => delivery.event.eventId),
          Sample.ids(stored)
        )
      })
    )

    it.effect("wakes every tenant that a call names", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const tenants = yield* Effect.forEach(Array.range(1, 3), () => Fresh.tenant)
        const queues = yield* Effect.forEach(tenants, ({ tenantId }) => subscribe(tenantId))
        yield* store.append(yield* Effect.forEach(tenants, ({ tenantId }) => Sample.draft(tenantId)))
        for (const queue of queues) yield* Queue.take(queue)
      })
    )

    it.effect("stops with its scope, and does not affect other listeners", () =>
      Effect.gen(function* () {
        const { tenantId } = yield* Fresh.tenant
        const scope = yield* Scope.make()
        const left = yield* Scope.provide(subscribe(tenantId), scope)
        const stays = yield* subscribe(tenantId)
        yield* Scope.close(scope, Exit.void)
        yield* Sample.append(tenantId, 1)
        yield* Queue.take(stays)
        assert.strictEqual(yield* waiting(left), 0)
      })
    )
  })

  describe("EventSignal and transactions", () => {
    it.effect("sends no wake-up for a rolled back change", () =>
      Effect.gen(function* () {
        const { tenantId } = yield* Fresh.tenant
        const queue = yield* subscribe(tenantId)
        yield* rolledBack(Sample.append(tenantId, 1))
        assert.strictEqual(yield* waiting(queue), 0)
      })
    )

    it.effect("sends wake-ups after the transaction commits, when the events can be read", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const transactor = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        const queue = yield* subscribe(tenantId)
        const reader = yield* Effect.forkChild(Effect.andThen(Queue.take(queue), store.replayable(tenantId, 9)))
        yield* transactor.transact(
          Effect.gen(function* () {
            yield* Sample.append(tenantId, 1)
            for (const _ of Array.range(1, 5)) yield* Effect.yieldNow
            yield* Sample.append(tenantId, 1)
            assert.isTrue(Option.isNone(yield* Queue.poll(queue)), "no wake-up before the commit")
          })
        )
        assert.strictEqual((yield* Fiber.join(reader)).length, 2)
      })
    )

    const open = needing(capabilities.concurrentTransactions, "wakes no subscriber while the transaction is still open")
    it.effect.skipIf(open.missing)(open.name, () =>
      Effect.gen(function* () {
        const transactor = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        const queue = yield* subscribe(tenantId)
        const [appended, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const writer = yield* Effect.forkChild(
          transactor.transact(
            Effect.gen(function* () {
              yield* Sample.append(tenantId, 1)
              yield* Deferred.succeed(appended, undefined)
              yield* Deferred.await(proceed)
            })
          )
        )
        yield* Deferred.await(appended)
        assert.strictEqual(yield* waiting(queue), 0)
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(writer)
        yield* Queue.take(queue)
      })
    )
  })

  describe("EventSignal and leases", () => {
    it.effect("sends wake-ups when a session releases leases", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const session = yield* Fresh.id
        yield* Sample.append(tenantId, 1)
        yield* store.lease(tenantId, session, 1)
        const queue = yield* subscribe(tenantId)
        yield* waiting(queue)
        yield* store.release([session], "withdrawn")
        yield* Queue.take(queue)
        assert.strictEqual((yield* store.lease(tenantId, yield* Fresh.id, 1)).length, 1)
      })
    )

    it.effect("wakes the tenants of every session that is released", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const tenants = yield* Effect.forEach(Array.range(1, 3), () => Fresh.tenant)
        const sessions = yield* Effect.forEach(tenants, ({ tenantId }) =>
          Effect.gen(function* () {
            const session = yield* Fresh.id
            yield* Sample.append(tenantId, 1)
            yield* store.lease(tenantId, session, 1)
            return session
          })
        )
        const queues = yield* Effect.forEach(tenants, ({ tenantId }) => subscribe(tenantId))
        yield* Effect.forEach(queues, waiting)
        yield* store.release(sessions, "withdrawn")
        for (const queue of queues) yield* Queue.take(queue)
      })
    )
  })
}
