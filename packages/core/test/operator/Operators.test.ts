import {
  audited,
  AuditStore,
  Conflict,
  type Mutation,
  Operators,
  OperatorStore,
  Timestamp,
  Transactor
} from "@agentos/core"
import { Memory } from "@agentos/memory"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { recordChange } from "../../src/operator/Audit.ts"
import { setBack } from "../support/SetBackClock.ts"

const operators = Operators.layer.pipe(Layer.provideMerge(Memory.layer))

const ADA = { name: "ada", role: "support" } as const
const MUTATION: Mutation = { actor: "ada", action: "tenant.suspend", target: "t", reason: null }

const isKnown = (token: string) =>
  Effect.flatMap(Operators, ({ authenticate }) => Effect.map(authenticate(token), Option.isSome))

describe("an operator", () => {
  it.effect("loses access when its token expires", () =>
    Effect.gen(function* () {
      const { add } = yield* Operators
      yield* add({ ...ADA, expiresInDays: 1 }, "token")
      yield* TestClock.adjust("23 hours")
      assert.isTrue(yield* isKnown("token"))
      yield* TestClock.adjust("1 hour")
      assert.isFalse(yield* isKnown("token"))
    }).pipe(Effect.provide(operators))
  )

  it.effect("is added, gets another token and is removed on another server within 5 s", () =>
    Effect.gen(function* () {
      const store = yield* OperatorStore
      const seen = (token: string) => Effect.tap(isKnown(token), () => TestClock.adjust("4 seconds"))
      assert.isFalse(yield* seen("one"))
      yield* store.add({ ...ADA, tokenDigest: "one", createdAt: yield* Timestamp.now, expiresAt: null })
      assert.isTrue(yield* seen("one"))
      yield* store.rotate("ada", { tokenDigest: "two", expiresAt: null })
      assert.deepStrictEqual([yield* seen("one"), yield* seen("two")], [false, true])
      yield* store.remove("ada")
      assert.isFalse(yield* seen("two"))
    }).pipe(Effect.provide(operators))
  )

  it.effect("loses access within 5 s also if the time of day is set back", () =>
    Effect.gen(function* () {
      const store = yield* OperatorStore
      yield* TestClock.setTime(Timestamp.DAY)
      yield* (yield* Operators).add(ADA, "token")
      assert.isTrue(yield* isKnown("token"))
      yield* store.remove("ada")
      const later = yield* setBack("4 seconds")
      assert.isFalse(yield* Effect.provideService(isKnown("token"), Clock.Clock, later))
    }).pipe(Effect.provide(operators))
  )

  it.effect("is not rotated or removed once another operator has removed it meanwhile", () =>
    Effect.gen(function* () {
      const store = yield* OperatorStore
      const audit = yield* AuditStore
      yield* store.add({ ...ADA, tokenDigest: "one", createdAt: yield* Timestamp.now, expiresAt: null })
      const list = Effect.tap(store.list, () => store.remove("ada"))
      const refused = yield* Effect.gen(function* () {
        const { remove, rotate } = yield* Operators
        const rotated = yield* Effect.flip(audited(MUTATION, rotate("ada", {}, "two")))
        yield* store.add({ ...ADA, tokenDigest: "one", createdAt: yield* Timestamp.now, expiresAt: null })
        return [rotated, yield* Effect.flip(audited(MUTATION, remove("ada")))]
      }).pipe(Effect.provide(Operators.layer), Effect.provideService(OperatorStore, { ...store, list }))
      assert.deepStrictEqual(
        refused.map(({ _tag }) => _tag),
        ["ResourceNotFound", "ResourceNotFound"]
      )
      assert.deepStrictEqual(
        (yield* audit.list({ limit: 9 })).map(({ outcome }) => outcome),
        ["failed", "failed"]
      )
    }).pipe(Effect.provide(Memory.layer))
  )

  it.effect("keeps access while the store does not answer", () =>
    Effect.gen(function* () {
      let isSilent = false
      const store = yield* OperatorStore
      const list = Effect.suspend(() => (isSilent ? Effect.never : store.list))
      yield* Effect.gen(function* () {
        yield* (yield* Operators).add(ADA, "token")
        assert.isTrue(yield* isKnown("token"))
        isSilent = true
        yield* TestClock.adjust("4 seconds")
        const waiting = yield* Effect.forkChild(isKnown("token"))
        yield* TestClock.adjust("1 second")
        assert.isTrue(yield* Fiber.join(waiting))
        assert.isTrue(yield* isKnown("token"), "without another wait")
      }).pipe(Effect.provide(Operators.layer), Effect.provideService(OperatorStore, { ...store, list }))
    }).pipe(Effect.provide(Memory.layer))
  )
})

describe("the record of a mutation", () => {
  const records = Effect.flatMap(AuditStore, ({ list }) => list({ limit: 9 }))

  it.effect("is the one that was committed, though the mutation fails later", () =>
    Effect.gen(function* () {
      const { transact } = yield* Transactor
      const changed = transact(recordChange({ a: 1 }, { a: 2 }, { reason: "Spam" }))
      yield* Effect.flip(audited(MUTATION, Effect.andThen(changed, Effect.fail("late"))))
      const [record, ...others] = yield* records
      assert.lengthOf(others, 0)
      assert.deepInclude(record, { outcome: "succeeded", reason: "Spam", before: '{"a":1}', after: '{"a":2}' })
    }).pipe(Effect.provide(Memory.layer))
  )

  it.effect("says that the mutation failed if its transaction is rolled back", () =>
    Effect.gen(function* () {
      const { transact } = yield* Transactor
      const undone = transact(Effect.andThen(recordChange(1, 2), Effect.fail(new Conflict({ message: "No room" }))))
      yield* Effect.flip(audited(MUTATION, undone))
      const [record, ...others] = yield* records
      assert.lengthOf(others, 0)
      assert.deepInclude(record, { outcome: "failed", failure: "Conflict: No room", before: null, after: null })
    }).pipe(Effect.provide(Memory.layer))
  )

  it.effect("is stored once for a mutation that succeeds, dies or is interrupted", () =>
    Effect.gen(function* () {
      yield* audited(MUTATION, Effect.void)
      yield* Effect.exit(audited(MUTATION, Effect.die(new Error("secret"))))
      const started = yield* Deferred.make<void>()
      const endless = Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(audited(MUTATION, endless))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual((yield* records).map(({ failure, outcome }) => `${outcome} ${failure}`).toSorted(), [
        "failed internal error",
        "failed interrupted",
        "succeeded null"
      ])
    }).pipe(Effect.provide(Memory.layer))
  )
})
