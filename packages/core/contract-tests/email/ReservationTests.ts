import { MailboxStore, TenantStore, Transactor } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import * as Sample from "./MailboxSample.ts"

/** Returns for whom a local part is available: its first tenant, another one, a wallet without a tenant. */
const availability = Effect.fnUntraced(function* (localPart: string, first: string, other: string) {
  const store = yield* MailboxStore
  return yield* Effect.all([
    store.isAvailable(localPart, first),
    store.isAvailable(localPart, other),
    store.isAvailable(localPart, null)
  ])
})

/** Two tenants, two operations and an unused local part. */
const strangers = Effect.gen(function* () {
  const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
  const [operation, another] = yield* Effect.all([Fresh.id, Fresh.id])
  return { one, two, operation, another, localPart: yield* Fresh.word }
})

/** Tests of `isAvailable`, `reserve`, `release` and `create`: the ownership of a local part. */
export const reservationTests: ContractTests<MailboxStore> = (it) => {
  describe("an unused local part", () => {
    it.effect("is available to everyone, and a query reserves nothing", () =>
      Effect.gen(function* () {
        const { localPart, one, two } = yield* strangers
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [true, true, true])
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [true, true, true])
      })
    )
  })

  describe("overlapping questions", () => {
    it.effect("are answered each for its own local part and tenant", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const [owner, other] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        const owned = yield* Effect.forEach(Array.range(1, 40), () => Fresh.word)
        const unused = yield* Effect.forEach(Array.range(1, 40), () => Fresh.word)
        for (const localPart of owned) {
          const operationId = yield* Fresh.id
          yield* store.reserve(localPart, owner.tenantId, operationId)
          const mailbox = yield* Sample.mailbox(owner, { localPart })
          yield* store.create(mailbox, operationId)
          yield* store.remove(owner.tenantId, mailbox.mailboxId)
        }
        const questions = [...owned, ...unused, ...owned].flatMap((localPart) =>
          [owner.tenantId, other.tenantId, null].map((tenantId) => ({ localPart, tenantId }))
        )
        const answers = yield* Effect.forEach(
          questions,
          ({ localPart, tenantId }) => store.isAvailable(localPart, tenantId),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          answers,
          questions.map(({ localPart, tenantId }) => unused.includes(localPart) || tenantId === owner.tenantId)
        )
      })
    )

    it.effect("see changes that were committed before they began, and within a transaction its own", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { transact } = yield* Transactor
        const { localPart, one, operation } = yield* strangers
        const ask = store.isAvailable(localPart, null)
        const early = yield* Effect.forkChild(Effect.all(Array.replicate(ask, 8), { concurrency: "unbounded" }))
        const inside = yield* transact(
          Effect.andThen(store.reserve(localPart, one.tenantId, operation), Effect.all([ask, ask]))
        )
        assert.deepStrictEqual(inside, [false, false])
        assert.deepStrictEqual(
          yield* Effect.all(Array.replicate(ask, 8), { concurrency: "unbounded" }),
          Array.replicate(false, 8)
        )
        yield* Fiber.join(early)
      })
    )
  })

  describe("a reserved local part", () => {
    it.effect("is not available to any other operation, even of the same tenant", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { another, localPart, one, operation, two } = yield* strangers
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, operation), "reserved")
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [false, false, false])
        assert.strictEqual(yield* store.reserve(localPart, two.tenantId, another), "taken")
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, another), "taken")
        assert.deepStrictEqual(yield* store.list(one.tenantId), [], "a reservation is no mailbox")
      })
    )

    it.effect("can be reserved again by the same operation", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { another, localPart, one, operation } = yield* strangers
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, operation), "reserved")
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, operation), "reserved")
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, another), "taken")
        assert.strictEqual(yield* store.reserve(localPart, (yield* Fresh.tenant).tenantId, operation), "taken")
      })
    )

    it.effect("is available to everyone again after the operation releases it", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { another, localPart, one, operation, two } = yield* strangers
        yield* store.reserve(localPart, one.tenantId, operation)
        yield* store.release(another)
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [false, false, false])
        yield* store.release(operation)
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [true, true, true])
        yield* store.release(operation)
        assert.strictEqual(yield* store.reserve(localPart, two.tenantId, another), "reserved")
        yield* store.release(operation)
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [false, false, false])
      })
    )
  })

  describe("a local part that has a mailbox", () => {
    it.effect("is not available, even to its own tenant", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { another, localPart, one, two } = yield* strangers
        yield* Sample.stored(one, { localPart })
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [false, false, false])
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, another), "taken")
        assert.strictEqual(yield* store.reserve(localPart, two.tenantId, another), "taken")
      })
    )

    it.effect("remains so when the operation that created it releases its reservation", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { localPart, one, operation, two } = yield* strangers
        yield* store.reserve(localPart, one.tenantId, operation)
        const mailbox = yield* Sample.mailbox(one, { localPart })
        yield* store.create(mailbox, operation)
        yield* store.release(operation)
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [false, false, false])
        assert.deepStrictEqual(yield* store.list(one.tenantId), [mailbox])
        yield* store.remove(one.tenantId, mailbox.mailboxId)
        yield* store.release(operation)
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [true, false, false])
      })
    )

    it.effect("differs from every similar one: case, dots and tags are part of it", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { localPart, one, two } = yield* strangers
        yield* Sample.stored(one, { localPart })
        for (const like of [
          `${localPart}.x`,
          `${localPart}+x`,
          localPart.slice(0, -1),
          `${localPart}_`,
          `${localPart}%`
        ]) {
          assert.isTrue(yield* store.isAvailable(like, two.tenantId), like)
        }
      })
    )
  })

  describe("a local part whose mailbox was deleted", () => {
    it.effect("belongs permanently to the tenant that first had it", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { another, localPart, one, operation, two } = yield* strangers
        const mailbox = yield* Sample.stored(one, { localPart })
        yield* store.remove(one.tenantId, mailbox.mailboxId)
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [true, false, false])
        assert.strictEqual(yield* store.reserve(localPart, two.tenantId, another), "taken")
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, operation), "reserved")
        const again = yield* Sample.mailbox(one, { localPart })
        yield* store.create(again, operation)
        assert.deepStrictEqual(yield* store.findActive([localPart]), [again])
        yield* store.remove(one.tenantId, again.mailboxId)
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [true, false, false])
      })
    )

    it.effect("remains that tenant's when one of its operations releases it unpaid", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { another, localPart, one, operation, two } = yield* strangers
        const mailbox = yield* Sample.stored(one, { localPart })
        yield* store.remove(one.tenantId, mailbox.mailboxId)
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, operation), "reserved")
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [false, false, false])
        yield* store.release(operation)
        assert.deepStrictEqual(yield* availability(localPart, one.tenantId, two.tenantId), [true, false, false])
        assert.strictEqual(yield* store.reserve(localPart, two.tenantId, another), "taken")
      })
    )
  })

  describe("a local part without a reservation", () => {
    it.effect("cannot be created: without a reservation, with another operation's, or with another tenant's", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { another, localPart, one, operation, two } = yield* strangers
        const mailbox = yield* Sample.mailbox(one, { localPart })
        yield* refused(store.create(mailbox, operation))
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, operation), "reserved")
        yield* refused(store.create(mailbox, another))
        yield* refused(store.create({ ...mailbox, tenantId: two.tenantId }, operation))
        assert.deepStrictEqual(yield* store.findActive([localPart]), [])
        yield* store.create(mailbox, operation)
        assert.deepStrictEqual(yield* store.findActive([localPart]), [mailbox])
        yield* refused(store.create(yield* Sample.mailbox(one, { localPart }), operation))
        assert.deepStrictEqual(yield* store.findActive([localPart]), [mailbox])
      })
    )

    it.effect("cannot be reserved by a tenant that does not exist", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { localPart, operation } = yield* strangers
        yield* refused(store.reserve(localPart, yield* Fresh.id, operation))
        assert.isTrue(yield* store.isAvailable(localPart, null))
      })
    )
  })

  describe("concurrent reservations", () => {
    it.effect("give the local part to one", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const tenants = yield* TenantStore
        const transactor = yield* Transactor
        const localPart = yield* Fresh.word
        const rivals = yield* Effect.forEach(Array.range(1, 12), () => Effect.all([Fresh.tenant, Fresh.id]))
        const answers = yield* Effect.forEach(
          rivals,
          ([{ tenantId }, operationId]) =>
            transactor.transact(
              Effect.andThen(tenants.lock([tenantId]), store.reserve(localPart, tenantId, operationId))
            ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(answers.filter((answer) => answer === "reserved").length, 1)
        const [{ tenantId }, operationId] = rivals[answers.indexOf("reserved")]!
        assert.strictEqual(yield* store.reserve(localPart, tenantId, operationId), "reserved", "who won still holds it")
      })
    )

    it.effect("give it to the next one if the first was rolled back", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const transactor = yield* Transactor
        const { another, localPart, one, operation, two } = yield* strangers
        const reserved = yield* Deferred.make<void>()
        const failing = yield* Effect.forkChild(
          transactor
            .transact(
              Effect.gen(function* () {
                assert.strictEqual(yield* store.reserve(localPart, one.tenantId, operation), "reserved")
                yield* Deferred.succeed(reserved, undefined)
                for (const _ of Array.range(1, 20)) yield* Effect.yieldNow
                return yield* Effect.fail("no")
              })
            )
            .pipe(Effect.exit)
        )
        yield* Deferred.await(reserved)
        assert.strictEqual(yield* store.reserve(localPart, two.tenantId, another), "reserved")
        yield* Fiber.join(failing)
        assert.strictEqual(yield* store.reserve(localPart, one.tenantId, operation), "taken")
      })
    )

    it.effect("give it to one of its first tenant's operations after a deletion", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenantId } = yield* Sample.owner
        yield* store.remove(tenantId, mailbox.mailboxId)
        const operations = yield* Effect.forEach(Array.range(1, 8), () => Fresh.id)
        const answers = yield* Effect.forEach(
          operations,
          (operationId) => store.reserve(mailbox.localPart, tenantId, operationId),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(answers.filter((answer) => answer === "reserved").length, 1)
      })
    )
  })
}
