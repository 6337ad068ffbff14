import { JobStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type ContractTests, defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"

const LEASE = 30_000
const EVERY = 600_000

const taken = Effect.fnUntraced(function* (name: string) {
  return Option.getOrThrow(yield* (yield* JobStore).take(name, "due", LEASE))
})

const recordOf = Effect.fnUntraced(function* (name: string) {
  const found = (yield* (yield* JobStore).list).find((job) => job.name === name)
  if (found === undefined) return yield* Effect.die(new Error(`no job ${name}`))
  return found
})

const takeTests: ContractTests<JobStore> = (it) => {
  describe("take", () => {
    it.effect("leases a job that never ran, and not again during its lease", () =>
      Effect.gen(function* () {
        const store = yield* JobStore
        const clock = yield* StoreClock
        const name = yield* Fresh.word
        assert.deepStrictEqual(yield* taken(name), { name, fence: 1 })
        assert.deepStrictEqual(yield* store.take(name, "due", LEASE), Option.none())
        assert.deepStrictEqual(yield* store.take(name, "now", LEASE), Option.none())
        yield* clock.advance(LEASE)
        assert.deepStrictEqual(yield* taken(name), { name, fence: 2 })
      })
    )

    it.effect("leases it again when it is due on the store's clock, and at once on request", () =>
      Effect.gen(function* () {
        const store = yield* JobStore
        const clock = yield* StoreClock
        const name = yield* Fresh.word
        assert.isTrue(yield* store.finish(yield* taken(name), { _tag: "Succeeded", done: 0 }, EVERY))
        yield* clock.advance(EVERY - 60_000)
        assert.deepStrictEqual(yield* store.take(name, "due", LEASE), Option.none())
        const now = Option.getOrThrow(yield* store.take(name, "now", LEASE))
        assert.strictEqual(now.fence, 2)
        assert.isTrue(yield* store.finish(now, { _tag: "Succeeded", done: 0 }, EVERY))
        yield* clock.advance(EVERY)
        assert.strictEqual((yield* taken(name)).fence, 3)
      })
    )

    it.effect("leases it to one of many concurrent callers", () =>
      Effect.gen(function* () {
        const store = yield* JobStore
        const clock = yield* StoreClock
        const name = yield* Fresh.word
        for (const fence of [1, 2]) {
          const answers = yield* Effect.replicateEffect(store.take(name, "due", LEASE), 10, {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(
            answers.flatMap((answer) => Option.toArray(answer)),
            [{ name, fence }]
          )
          yield* clock.advance(LEASE)
        }
      })
    )

    it.effect("distinguishes jobs", () =>
      Effect.gen(function* () {
        const [one, other] = [yield* Fresh.word, yield* Fresh.word]
        yield* taken(one)
        assert.strictEqual((yield* taken(other)).fence, 1)
      })
    )
  })
}

const endTests: ContractTests<JobStore> = (it) => {
  describe("renew and finish", () => {
    it.effect("keep a job leased while its runner renews the lease", () =>
      Effect.gen(function* () {
        const store = yield* JobStore
        const clock = yield* StoreClock
        const name = yield* Fresh.word
        const run = yield* taken(name)
        for (let times = 0; times < 3; times++) {
          yield* clock.advance(LEASE - 5_000)
          assert.isTrue(yield* store.renew(run, LEASE))
          assert.deepStrictEqual(yield* store.take(name, "due", LEASE), Option.none())
        }
      })
    )

    it.effect("do nothing for a runner whose job another has leased, or that has ended", () =>
      Effect.gen(function* () {
        const store = yield* JobStore
        const clock = yield* StoreClock
        const name = yield* Fresh.word
        const first = yield* taken(name)
        yield* clock.advance(LEASE)
        const second = yield* taken(name)
        const before = yield* recordOf(name)
        assert.isFalse(yield* store.renew(first, LEASE))
        assert.isFalse(yield* store.finish(first, { _tag: "Failed", message: "late" }, 0))
        assert.deepStrictEqual(yield* recordOf(name), before)
        assert.isTrue(yield* store.finish(second, { _tag: "Succeeded", done: 1 }, EVERY))
        const ended = yield* recordOf(name)
        assert.isFalse(yield* store.renew(second, LEASE))
        assert.isFalse(yield* store.finish(second, { _tag: "Succeeded", done: 1 }, EVERY))
        assert.deepStrictEqual(yield* recordOf(name), ended)
        assert.isFalse(yield* store.renew({ name: yield* Fresh.word, fence: 1 }, LEASE))
      })
    )

    it.effect("record how runs ended, and count them", () =>
      Effect.gen(function* () {
        const store = yield* JobStore
        const clock = yield* StoreClock
        const name = yield* Fresh.word
        const startedAt = yield* clock.now
        yield* store.finish(yield* taken(name), { _tag: "Failed", message: "the relay is away" }, 1_000)
        const failed = yield* recordOf(name)
        assert.deepInclude(failed, { runs: 1, failures: 1, done: 0, failure: "the relay is away", succeededAt: null })
        assert.isNull(failed.leasedUntil)
        assert.isAtLeast(failed.failedAt ?? 0, startedAt)
        assert.strictEqual(failed.dueAt, (failed.failedAt ?? 0) + 1_000)
        yield* clock.advance(5_000)
        yield* store.finish(yield* taken(name), { _tag: "Succeeded", done: 7 }, 0)
        yield* store.finish(yield* taken(name), { _tag: "Succeeded", done: 5 }, EVERY)
        const succeeded = yield* recordOf(name)
        assert.deepInclude(succeeded, { runs: 3, failures: 1, done: 12, failure: null, failedAt: failed.failedAt })
        assert.isAtLeast(succeeded.succeededAt ?? 0, succeeded.startedAt ?? Infinity)
      })
    )
  })

  describe("list", () => {
    it.effect("returns every job that was ever leased, in order", () =>
      Effect.gen(function* () {
        const store = yield* JobStore
        const names = [yield* Fresh.word, yield* Fresh.word, yield* Fresh.word]
        for (const name of names) yield* taken(name)
        const listed = (yield* store.list).map(({ name }) => name)
        assert.includeMembers(listed, names)
        assert.deepStrictEqual(listed, listed.toSorted())
      })
    )
  })
}

/** The contract tests of `JobStore`. */
export const JobStoreContract = defineContract<JobStore>("JobStore", (it, capabilities) => {
  takeTests(it, capabilities)
  endTests(it, capabilities)
})
