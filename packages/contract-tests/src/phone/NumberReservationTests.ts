import { PhoneNumberStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import * as Sample from "./PhoneNumberSample.ts"

/** Two operations, and two unused numbers. */
const rivals = Effect.gen(function* () {
  const [operation, another] = yield* Effect.all([Fresh.id, Fresh.id])
  const [a, b] = yield* Effect.all([Sample.e164, Sample.e164])
  return { operation, another, a, b }
})

/** Tests of `reserve`, `reservation`, `findReserved`, `release` and `create`: the holder of a number. */
export const numberReservationTests: ContractTests<PhoneNumberStore> = (it) => {
  describe("a number that an operation has reserved", () => {
    it.effect("belongs to that operation alone until it releases the reservation", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { a, another, b, operation } = yield* rivals
        assert.deepStrictEqual(yield* store.reservation(operation), Option.none())
        assert.strictEqual(yield* store.reserve(a, operation), "reserved")
        assert.strictEqual(yield* store.reserve(a, operation), "reserved")
        assert.strictEqual(yield* store.reserve(a, another), "taken")
        assert.deepStrictEqual(yield* store.reservation(operation), Option.some(a))
        assert.deepStrictEqual(yield* store.reservation(another), Option.none())
        assert.deepStrictEqual(yield* store.findReserved([b, a, a]), new Set([a]))
        assert.deepStrictEqual(yield* store.findReserved([]), new Set())

        yield* store.release(another)
        assert.strictEqual(yield* store.reserve(a, another), "taken")
        yield* store.release(operation)
        yield* store.release(operation)
        assert.deepStrictEqual(yield* store.reservation(operation), Option.none())
        assert.deepStrictEqual(yield* store.findReserved([a, b]), new Set())
        assert.strictEqual(yield* store.reserve(a, another), "reserved")
      })
    )

    it.effect("is released for another one, but kept if that is taken", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { a, another, b, operation } = yield* rivals
        assert.strictEqual(yield* store.reserve(a, operation), "reserved")
        assert.strictEqual(yield* store.reserve(b, operation), "reserved")
        assert.deepStrictEqual(yield* store.reservation(operation), Option.some(b))
        assert.strictEqual(yield* store.reserve(a, another), "reserved")

        assert.strictEqual(yield* store.reserve(a, operation), "taken")
        assert.deepStrictEqual(yield* store.reservation(operation), Option.some(b))
        const { number } = yield* Sample.owner
        assert.strictEqual(yield* store.reserve(number.number, operation), "taken")
        assert.deepStrictEqual(yield* store.reservation(operation), Option.some(b))
        assert.deepStrictEqual(yield* store.findReserved([a, b, number.number]), new Set([a, b]))
      })
    )
  })

  describe("a stored number", () => {
    it.effect("cannot be reserved, even by its own operation, until it is released", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { a, another, operation } = yield* rivals
        const tenant = yield* Fresh.tenant
        assert.strictEqual(yield* store.reserve(a, operation), "reserved")
        const number = yield* Sample.phoneNumber(tenant, { number: a })
        yield* store.create(number, operation)
        for (const state of ["active", "suspended"] as const) {
          yield* store.update({ ...number, state })
          assert.deepStrictEqual(yield* store.reservation(operation), Option.none())
          assert.deepStrictEqual(yield* store.findReserved([a]), new Set())
          assert.strictEqual(yield* store.reserve(a, operation), "taken")
          assert.strictEqual(yield* store.reserve(a, another), "taken")
          yield* store.release(operation)
        }
        yield* store.update(Sample.released(number))
        assert.strictEqual(yield* store.reserve(a, another), "reserved")
        assert.strictEqual(yield* store.reserve(a, operation), "taken")
      })
    )

    it.effect("stays reserved by its new operation, whatever happens to earlier holders", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { another } = yield* rivals
        const { number, tenantId } = yield* Sample.owner
        yield* store.update(Sample.released(number))
        assert.strictEqual(yield* store.reserve(number.number, another), "reserved")
        assert.isFalse(yield* store.update(Sample.released(number)))
        assert.isFalse(yield* store.update({ ...Sample.released(number), tenantId: yield* Fresh.id }))
        assert.deepStrictEqual(yield* store.reservation(another), Option.some(number.number))
        assert.strictEqual((yield* store.list(tenantId)).length, 1)
      })
    )
  })

  describe("a number that no operation has reserved", () => {
    it.effect(
      "cannot be created: without a reservation, with another operation's, twice, or for a missing tenant",
      () =>
        Effect.gen(function* () {
          const store = yield* PhoneNumberStore
          const { a, another, b, operation } = yield* rivals
          const tenant = yield* Fresh.tenant
          const number = yield* Sample.phoneNumber(tenant, { number: a })
          yield* refused(store.create(number, operation))
          yield* store.reserve(b, operation)
          yield* refused(store.create(number, operation))
          yield* store.reserve(a, another)
          yield* refused(store.create(number, operation))
          yield* refused(store.create({ ...number, tenantId: yield* Fresh.id }, another))
          assert.deepStrictEqual(yield* store.findByNumber(a), Option.none())
          assert.deepStrictEqual(
            yield* store.reservation(another),
            Option.some(a),
            "a refused creation changes nothing"
          )

          yield* store.create(number, another)
          yield* refused(store.create(yield* Sample.phoneNumber(tenant, { number: a }), another))
          assert.deepStrictEqual(yield* store.list(tenant.tenantId), [number])
        })
    )
  })

  describe("concurrent reservations", () => {
    it.effect("give the number to one", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const number = yield* Sample.e164
        const operations = yield* Effect.forEach(Array.range(1, 12), () => Fresh.id)
        const answers = yield* Effect.forEach(operations, (operationId) => store.reserve(number, operationId), {
          concurrency: "unbounded"
        })
        assert.strictEqual(answers.filter((answer) => answer === "reserved").length, 1)
        const winner = operations[answers.indexOf("reserved")]!
        assert.deepStrictEqual(yield* store.reservation(winner), Option.some(number))
      })
    )

    it.effect("give each operation one of a few numbers, and none of them two", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const numbers = yield* Effect.forEach(Array.range(1, 5), () => Sample.e164)
        const operations = yield* Effect.forEach(Array.range(1, 10), () => Fresh.id)
        const firstFree = (operationId: string, from: number) =>
          Effect.gen(function* () {
            for (const n of Array.range(0, numbers.length - 1)) {
              const number = numbers[(from + n) % numbers.length]!
              if ((yield* store.reserve(number, operationId)) === "reserved") return number
            }
            return undefined
          })
        const got = yield* Effect.forEach(operations, firstFree, { concurrency: "unbounded" })
        const reserved = got.filter((number) => number !== undefined)
        assert.sameMembers(reserved, numbers)
        for (const [n, operationId] of operations.entries()) {
          assert.deepStrictEqual(yield* store.reservation(operationId), Option.fromUndefinedOr(got[n]))
        }
      })
    )
  })
}
