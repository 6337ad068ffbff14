import {
  EventStore,
  MailboxStore,
  type MessageStore,
  type OperationStore,
  TenantStore,
  Transactor
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Cause, Deferred, Effect, Exit, Fiber, Option } from "effect"
import { type ContractTests, defineContract, needing } from "../Contract.ts"
import * as Mailboxes from "../email/MailboxSample.ts"
import * as Events from "../events/EventSample.ts"
import * as Fresh from "../Fresh.ts"
import { storeChangeTests } from "./StoreChangeTests.ts"

/** The ports whose changes are rolled back here. Those of `InboundMailStore` are in its own suite. */
type Ports = EventStore | MailboxStore | MessageStore | OperationStore

const count = Effect.fnUntraced(function* (tenantId: string) {
  return (yield* Events.all(tenantId)).length
})

const answerTests: ContractTests<Ports> = (it) => {
  describe("transact", () => {
    it.effect("returns the result of the effect: its value, failure or defect", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        assert.strictEqual(yield* transact(Effect.succeed(42)), 42)
        assert.deepStrictEqual(yield* Effect.exit(transact(Effect.fail("no"))), Exit.fail("no"))
        const died = yield* Effect.exit(transact(Effect.die("broken")))
        assert.deepStrictEqual(died, Exit.failCause(Cause.die("broken")))
        const nested = yield* Effect.exit(transact(transact(Effect.fail("inner"))))
        assert.deepStrictEqual(nested, Exit.fail("inner"))
      })
    )

    it.effect("lets the effect read its own changes", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        const seen = yield* transact(
          Effect.gen(function* () {
            yield* Events.append(tenantId, 2)
            const first = yield* count(tenantId)
            yield* transact(Events.append(tenantId, 1))
            return [first, yield* count(tenantId)]
          })
        )
        assert.deepStrictEqual(seen, [2, 3])
        assert.strictEqual(yield* count(tenantId), 3)
      })
    )

    it.effect("commits the changes of an effect along with a nested failure that it recovered from", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        yield* transact(
          Effect.gen(function* () {
            yield* Events.append(one.tenantId, 1)
            yield* Effect.exit(transact(Effect.fail("recovered from")))
            yield* Events.append(two.tenantId, 1)
          })
        )
        assert.deepStrictEqual([yield* count(one.tenantId), yield* count(two.tenantId)], [1, 1])
      })
    )

    it.effect("keeps working after many transactions that failed", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        for (const n of Array.range(1, 30)) {
          const ends = [Effect.fail("no"), Effect.die("no"), Effect.interrupt]
          yield* Effect.exit(transact(Effect.andThen(Events.append(tenantId, 1), ends[n % 3]!)))
        }
        yield* transact(Events.append(tenantId, 1))
        assert.strictEqual(yield* count(tenantId), 1)
      })
    )

    it.effect("is ready", () =>
      Effect.gen(function* () {
        const { ready } = yield* Transactor
        assert.isTrue(yield* ready)
      })
    )
  })
}

const isolationTests: ContractTests<Ports> = (it, capabilities) => {
  describe("concurrent transactions", () => {
    it.effect("never show changes that are rolled back", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        const written = yield* Deferred.make<void>()
        const writer = yield* Effect.forkChild(
          Effect.exit(
            transact(
              Effect.gen(function* () {
                yield* Events.append(tenantId, 1)
                yield* Deferred.succeed(written, undefined)
                for (const _ of Array.range(1, 20)) yield* Effect.yieldNow
                return yield* Effect.fail("no")
              })
            )
          )
        )
        yield* Deferred.await(written)
        while (writer.pollUnsafe() === undefined) assert.strictEqual(yield* count(tenantId), 0)
        assert.strictEqual(yield* count(tenantId), 0)
      })
    )

    it.effect("show all changes of a transaction or none", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        const writer = yield* Effect.forkChild(
          Effect.forEach(
            Array.range(1, 10),
            () => transact(Effect.forEach(Array.range(1, 3), () => Events.append(tenantId, 1))),
            { concurrency: "unbounded" }
          )
        )
        while (writer.pollUnsafe() === undefined) {
          assert.strictEqual((yield* count(tenantId)) % 3, 0)
          yield* Effect.yieldNow
        }
        yield* Fiber.join(writer)
        assert.strictEqual(yield* count(tenantId), 30)
      })
    )

    it.effect("lose no change made under the tenant's lock", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const tenants = yield* TenantStore
        const mailboxes = yield* MailboxStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        yield* mailboxes.update({ ...mailbox, displayName: "0" })
        const increment = Effect.gen(function* () {
          yield* tenants.lock([tenantId])
          const found = yield* mailboxes.find(tenantId, mailbox.mailboxId)
          if (found._tag !== "Owned") return assert.fail("the mailbox has gone")
          yield* Effect.yieldNow
          yield* mailboxes.update({ ...found.value, displayName: String(Number(found.value.displayName) + 1) })
        })
        yield* Effect.forEach(Array.range(1, 30), () => transact(increment), { concurrency: "unbounded" })
        const [updated] = yield* mailboxes.list(tenantId)
        assert.strictEqual(updated!.displayName, "30")
      })
    )

    it.effect("leave nothing locked by one that is interrupted while it waits", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const tenants = yield* TenantStore
        const { tenantId } = yield* Fresh.tenant
        const [held, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const holder = yield* Effect.forkChild(
          transact(
            Effect.gen(function* () {
              yield* tenants.lock([tenantId])
              yield* Deferred.succeed(held, undefined)
              yield* Deferred.await(proceed)
            })
          )
        )
        yield* Deferred.await(held)
        const waiting = yield* Effect.forkChild(
          transact(Effect.andThen(tenants.lock([tenantId]), Events.append(tenantId, 1)))
        )
        for (const _ of Array.range(1, 20)) yield* Effect.yieldNow
        const interruption = yield* Effect.forkChild(Fiber.interrupt(waiting))
        yield* Effect.yieldNow
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(holder)
        yield* Fiber.join(interruption)
        yield* transact(tenants.lock([tenantId]))
        assert.strictEqual(yield* count(tenantId), 0)
      })
    )

    const unseen = needing(capabilities.concurrentTransactions, "do not show uncommitted changes")
    it.effect.skipIf(unseen.missing)(unseen.name, () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        const candidate = yield* Fresh.candidate
        const tenants = yield* TenantStore
        const [written, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const writer = yield* Effect.forkChild(
          transact(
            Effect.gen(function* () {
              yield* tenants.ensure(candidate)
              yield* Events.append(tenantId, 1)
              yield* Deferred.succeed(written, undefined)
              yield* Deferred.await(proceed)
            })
          )
        )
        yield* Deferred.await(written)
        assert.strictEqual(yield* count(tenantId), 0)
        assert.deepStrictEqual(yield* tenants.find(candidate.tenantId), Option.none())
        assert.strictEqual(yield* transact(count(tenantId)), 0)
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(writer)
        assert.strictEqual(yield* count(tenantId), 1)
      })
    )

    const independent = needing(capabilities.concurrentTransactions, "on one tenant keep no other tenant waiting")
    it.effect.skipIf(independent.missing)(independent.name, () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        const [written, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const writer = yield* Effect.forkChild(
          transact(
            Effect.gen(function* () {
              yield* Events.append(one.tenantId, 1)
              yield* Deferred.succeed(written, undefined)
              yield* Deferred.await(proceed)
            })
          )
        )
        yield* Deferred.await(written)
        yield* Events.append(two.tenantId, 1)
        yield* Mailboxes.stored(two)
        assert.strictEqual(yield* count(two.tenantId), 1)
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(writer)
      })
    )
  })
}

const sharingTests: ContractTests<Ports> = (it, capabilities) => {
  describe("transactions that may be shared", () => {
    /** Appends an event to the tenant's, under its lock. */
    const append = Effect.fnUntraced(function* (tenantId: string) {
      const tenants = yield* TenantStore
      yield* tenants.lock([tenantId])
      yield* Events.append(tenantId, 1)
    })

    it.effect("commit the changes of all, and return to each its own result", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const tenants = yield* Effect.all(Array.makeBy(20, () => Fresh.tenant))
        const results = yield* Effect.forEach(
          tenants,
          ({ tenantId }) => transact(Effect.as(append(tenantId), tenantId), { key: tenantId }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          results,
          tenants.map(({ tenantId }) => tenantId)
        )
        for (const { tenantId } of tenants) assert.strictEqual(yield* count(tenantId), 1)
      })
    )

    it.effect("roll back those that fail, and no others", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const tenants = yield* Effect.all(Array.makeBy(12, () => Fresh.tenant))
        const ends: ReadonlyArray<Effect.Effect<string, string>> = [
          Effect.succeed("ok"),
          Effect.fail("no"),
          Effect.die("broken")
        ]
        const exits = yield* Effect.forEach(
          tenants,
          ({ tenantId }, index) =>
            Effect.exit(transact(Effect.andThen(append(tenantId), ends[index % 3]!), { key: tenantId })),
          { concurrency: "unbounded" }
        )
        const expected = [Exit.succeed("ok"), Exit.fail("no"), Exit.die("broken")]
        for (const [index, exit] of exits.entries())
          assert.deepStrictEqual<Exit.Exit<string, string>>(exit, expected[index % 3]!)
        for (const [index, { tenantId }] of tenants.entries())
          assert.strictEqual(yield* count(tenantId), index % 3 === 0 ? 1 : 0)
      })
    )

    it.effect("run one after the other if their keys are equal", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const mailboxes = yield* MailboxStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        yield* mailboxes.update({ ...mailbox, displayName: "0" })
        const increment = Effect.gen(function* () {
          const tenants = yield* TenantStore
          yield* tenants.lock([tenantId])
          const [found] = yield* mailboxes.list(tenantId)
          yield* Effect.yieldNow
          yield* mailboxes.update({ ...found!, displayName: String(Number(found!.displayName) + 1) })
        })
        yield* Effect.forEach(Array.range(1, 20), () => transact(increment, { key: tenantId }), {
          concurrency: "unbounded"
        })
        const [updated] = yield* mailboxes.list(tenantId)
        assert.strictEqual(updated!.displayName, "20")
      })
    )

    it.effect("are part of the transaction around them", () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        yield* Effect.exit(
          transact(Effect.andThen(transact(append(tenantId), { key: tenantId }), Effect.fail("rolled back")))
        )
        assert.strictEqual(yield* count(tenantId), 0)
      })
    )

    const independent = needing(
      capabilities.concurrentTransactions,
      "do not wait for a lock that only one of them needs"
    )
    it.effect.skipIf(independent.missing)(independent.name, () =>
      Effect.gen(function* () {
        const { transact } = yield* Transactor
        const [one, two, three] = yield* Effect.all([Fresh.tenant, Fresh.tenant, Fresh.tenant])
        const [held, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const holder = yield* Effect.forkChild(
          transact(
            Effect.gen(function* () {
              yield* append(one.tenantId)
              yield* Deferred.succeed(held, undefined)
              yield* Deferred.await(proceed)
            })
          )
        )
        yield* Deferred.await(held)
        const waiting = yield* Effect.forkChild(transact(append(one.tenantId), { key: one.tenantId }))
        yield* Effect.forEach([two, three], ({ tenantId }) => transact(append(tenantId), { key: tenantId }), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual([yield* count(two.tenantId), yield* count(three.tenantId)], [1, 1])
        assert.isUndefined(waiting.pollUnsafe())
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(holder)
        yield* Fiber.join(waiting)
        assert.strictEqual(yield* count(one.tenantId), 2)
      })
    )
  })
}

/** The contract tests of `Transactor` with every store. */
export const TransactorContract = defineContract<Ports>("Transactor", (it, capabilities) => {
  answerTests(it, capabilities)
  storeChangeTests(it, capabilities)
  isolationTests(it, capabilities)
  sharingTests(it, capabilities)
})
