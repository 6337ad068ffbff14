import { type Allowance, type PhoneNumber, PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Sample from "./PhoneNumberSample.ts"

/** A time before anything of other tests is due. */
const DAWN = Timestamp.Timestamp.make(Timestamp.DAY)
const minutes = (count: number) => Timestamp.add(DAWN, count * Timestamp.MINUTE)

/** The store, with nothing due at the times of these tests except the numbers that the test adds. */
const emptied = Effect.gen(function* () {
  const store = yield* PhoneNumberStore
  const end = minutes(1_000)
  for (const list of [store.dueForNotice, store.expired]) {
    for (const number of yield* list(end, 1_000)) yield* store.update(Sample.released(number))
    assert.deepStrictEqual(yield* list(end, 1), [])
  }
  return store
})

const noticeAt = (at: Timestamp.Timestamp): Allowance.Notice => ({ daysBefore: 5, at })

/** Returns all items of a list, read page by page, each ordered by id. */
const readAll = Effect.fnUntraced(function* (
  list: (after: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<PhoneNumber>>
) {
  const limit = 20
  const items: Array<PhoneNumber> = []
  for (;;) {
    const page = yield* list(items.at(-1)?.phoneNumberId, limit)
    assert.isAtMost(page.length, limit)
    for (const number of page) {
      assert.isTrue(items.length === 0 || number.phoneNumberId > items.at(-1)!.phoneNumberId, "in the order of the ids")
      items.push(number)
    }
    if (page.length === 0) return items
  }
})

/** Tests of `dueForNotice`, `expired`, `suspended` and `unreleased`. */
export const numberDueTests: ContractTests<PhoneNumberStore> = (it) => {
  describe("dueForNotice", () => {
    it.effect("returns numbers due at the moment, the longest due first, and at most `limit`", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const tenant = yield* Fresh.tenant
        const at = (minute: number) => Sample.stored(tenant, { nextNotice: noticeAt(minutes(minute)) })
        const [third, first, second] = [yield* at(3), yield* at(1), yield* at(2)]
        assert.deepStrictEqual(yield* store.dueForNotice(Timestamp.add(minutes(1), -1), 10), [])
        assert.deepStrictEqual(yield* store.dueForNotice(minutes(1), 10), [first])
        assert.deepStrictEqual(yield* store.dueForNotice(minutes(9), 10), [first, second, third])
        assert.deepStrictEqual(yield* store.dueForNotice(minutes(9), 2), [first, second])
        assert.deepStrictEqual(yield* store.dueForNotice(minutes(9), 0), [])

        yield* store.update({ ...first, nextNotice: noticeAt(minutes(20)) })
        yield* store.update({ ...second, nextNotice: null })
        assert.deepStrictEqual(yield* store.dueForNotice(minutes(9), 10), [third])
        assert.deepStrictEqual(
          (yield* store.dueForNotice(minutes(20), 10)).map(({ phoneNumberId }) => phoneNumberId),
          [third, first].map((number) => number.phoneNumberId)
        )
      })
    )

    it.effect("returns no suspended or released number, whatever notice is due", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const tenant = yield* Fresh.tenant
        const nextNotice = noticeAt(minutes(1))
        const [one, two] = [yield* Sample.stored(tenant, { nextNotice }), yield* Sample.stored(tenant, { nextNotice })]
        yield* store.update({ ...one, state: "suspended", suspension: "expired" })
        yield* store.update({ ...Sample.released(two), nextNotice })
        assert.deepStrictEqual(yield* store.dueForNotice(minutes(9), 10), [])
      })
    )
  })

  describe("expired", () => {
    it.effect("returns active numbers that have expired, the longest expired first, and at most `limit`", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const tenant = yield* Fresh.tenant
        const at = (minute: number) => Sample.stored(tenant, { expiresAt: minutes(minute), nextNotice: null })
        const [third, first, second] = [yield* at(3), yield* at(1), yield* at(2)]
        assert.deepStrictEqual(yield* store.expired(Timestamp.add(minutes(1), -1), 10), [])
        assert.deepStrictEqual(yield* store.expired(minutes(1), 10), [first])
        assert.deepStrictEqual(yield* store.expired(minutes(9), 10), [first, second, third])
        assert.deepStrictEqual(yield* store.expired(minutes(9), 2), [first, second])

        yield* store.update({ ...first, state: "suspended", suspension: "expired" })
        yield* store.update({ ...second, expiresAt: minutes(20) })
        assert.deepStrictEqual(yield* store.expired(minutes(9), 10), [third])
        yield* store.update(Sample.released(third))
        assert.deepStrictEqual(yield* store.expired(minutes(9), 10), [])
      })
    )
  })

  describe("suspended and unreleased", () => {
    it.effect("return each such number once, ordered by id", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const tenant = yield* Fresh.tenant
        const numbers: Array<PhoneNumber> = []
        for (let n = 0; n < 45; n += 1) numbers.push(yield* Sample.stored(tenant))
        const states = numbers.map((number, n): PhoneNumber => {
          if (n % 3 === 0) return number
          return n % 3 === 1 ? { ...number, state: "suspended", suspension: "expired" } : Sample.released(number)
        })
        for (const number of states) yield* store.update(number)
        const ours = (found: ReadonlyArray<PhoneNumber>) => found.filter(({ tenantId }) => tenantId === tenant.tenantId)

        const suspended = yield* readAll(store.suspended)
        assert.isTrue(suspended.every(({ state }) => state === "suspended"))
        assert.sameDeepMembers(
          ours(suspended),
          states.filter(({ state }) => state === "suspended")
        )
        const unreleased = yield* readAll(store.unreleased)
        assert.isTrue(unreleased.every(({ state }) => state !== "released"))
        assert.sameDeepMembers(
          ours(unreleased),
          states.filter(({ state }) => state !== "released")
        )
      })
    )
  })
}
