import { type NumberReservation, type PhoneNumber, PhoneNumberStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option, Schema } from "effect"
import { type ContractTests, propertyOptions } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import * as Sample from "./PhoneNumberSample.ts"

/** Two operations, and two unused numbers. */
const rivals = Effect.gen(function* () {
  const [operation, another] = yield* Effect.all([Fresh.id, Fresh.id])
  const [a, b] = yield* Effect.all([Sample.e164, Sample.e164])
  return { operation, another, a, b }
})

const reservedAmong = (store: PhoneNumberStore["Service"], numbers: ReadonlyArray<string>) =>
  Effect.map(store.findReserved(numbers), (found) => new Set(found.map(({ number }) => number)))

const COUNT = 3
const PAGE = 3
const Index = Schema.Literals([0, 1, 2])

/** Commands on a few numbers and operations. `Create` and `ReleaseNumber` run only when they are allowed. */
const Command = Schema.Union([
  Schema.TaggedStruct("Reserve", { number: Index, operation: Index }),
  Schema.TaggedStruct("Reserve", { number: Index, operation: Index }),
  Schema.TaggedStruct("ReleaseReservation", { operation: Index }),
  Schema.TaggedStruct("Create", { operation: Index }),
  Schema.TaggedStruct("Suspend", { number: Index }),
  Schema.TaggedStruct("ReleaseNumber", { number: Index })
])
type Command = typeof Command.Type

/** The holder of a number: an operation, or one of our phone numbers. */
type Place = number | PhoneNumber | undefined

/** New numbers with their model, and a function that runs one command on both and compares the results. */
const start = Effect.gen(function* () {
  const store = yield* PhoneNumberStore
  const tenant = yield* Fresh.tenant
  const numbers = yield* Effect.forEach(Array.range(1, COUNT), () => Sample.e164)
  const operations = yield* Effect.forEach(Array.range(1, COUNT), () => Fresh.id)
  const places: Array<Place> = numbers.map(() => undefined)

  const change = Effect.fnUntraced(function* (index: number, state: "suspended" | "released") {
    const place = places[index]
    if (typeof place !== "object") return
    const changed = state === "released" ? Sample.released(place) : ({ ...place, state } as const)
    assert.isTrue(yield* store.update(changed))
    places[index] = state === "released" ? undefined : changed
  })

  const run = Effect.fnUntraced(function* (command: Command) {
    switch (command._tag) {
      case "Reserve": {
        const { number, operation } = command
        const expected = places[number] === undefined || places[number] === operation ? "reserved" : "taken"
        assert.strictEqual(yield* store.reserve(numbers[number]!, operations[operation]!), expected)
        if (expected === "taken") return
        if (places.includes(operation)) places[places.indexOf(operation)] = undefined
        places[number] = operation
        return
      }
      case "ReleaseReservation":
        yield* store.release(operations[command.operation]!)
        if (places.includes(command.operation)) places[places.indexOf(command.operation)] = undefined
        return
      case "Create": {
        const at = places.indexOf(command.operation)
        if (at === -1) return
        const number = yield* Sample.phoneNumber(tenant, { number: numbers[at]! })
        yield* store.create(number, operations[command.operation]!)
        places[at] = number
        return
      }
      case "Suspend":
        return yield* change(command.number, "suspended")
      case "ReleaseNumber":
        return yield* change(command.number, "released")
    }
  })

  const compare = Effect.gen(function* () {
    const reserved = numbers.flatMap((number, at) => {
      const place = places[at]
      return typeof place === "number" ? [{ number, operationId: operations[place]! }] : []
    })
    assert.sameDeepMembers([...(yield* store.findReserved(numbers))], reserved)
    for (const [n, operationId] of operations.entries()) {
      const at = places.indexOf(n)
      assert.deepStrictEqual(yield* store.reservation(operationId), Option.fromUndefinedOr(numbers[at]))
    }
    const ours = places.filter((place) => typeof place === "object")
    assert.sameDeepMembers([...(yield* store.findByNumbers(numbers))], ours)
  })

  return { run, compare }
})

/** Compares any sequence of commands on numbers with the model. */
const modelTests: ContractTests<PhoneNumberStore> = (it, capabilities) => {
  describe("a number", () => {
    it.effect.prop(
      "has the one holder that its model has after any commands",
      { commands: Schema.Array(Command).check(Schema.isMaxLength(40)) },
      ({ commands }) =>
        Effect.gen(function* () {
          const { compare, run } = yield* start
          for (const command of commands) yield* run(command)
          yield* compare
        }),
      propertyOptions(capabilities)
    )
  })
}

/** Tests of `reserve`, `reservation`, `findReserved`, `release` and `create`: the holder of a number. */
export const numberReservationTests: ContractTests<PhoneNumberStore> = (it, capabilities) => {
  modelTests(it, capabilities)

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
        assert.deepStrictEqual(yield* reservedAmong(store, [b, a, a]), new Set([a]))
        assert.deepStrictEqual(yield* reservedAmong(store, []), new Set())

        yield* store.release(another)
        assert.strictEqual(yield* store.reserve(a, another), "taken")
        yield* store.release(operation)
        yield* store.release(operation)
        assert.deepStrictEqual(yield* store.reservation(operation), Option.none())
        assert.deepStrictEqual(yield* reservedAmong(store, [a, b]), new Set())
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
        assert.deepStrictEqual(yield* reservedAmong(store, [a, b, number.number]), new Set([a, b]))
      })
    )
  })

  describe("reservations", () => {
    it.effect("are listed page by page in the order of their operations, without those of stored numbers", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const made = yield* Effect.replicateEffect(Effect.all({ number: Sample.e164, operationId: Fresh.id }), PAGE + 1)
        for (const { number, operationId } of made) yield* store.reserve(number, operationId)
        const [first, ...others] = made
        yield* store.create(
          yield* Sample.phoneNumber(yield* Fresh.tenant, { number: first!.number }),
          first!.operationId
        )
        const listed = Array.empty<NumberReservation>()
        let after: string | undefined
        for (;;) {
          const page: ReadonlyArray<NumberReservation> = yield* store.reservations(after, PAGE)
          listed.push(...page)
          assert.isAtMost(page.length, PAGE)
          after = page.at(-1)?.operationId
          if (page.length < PAGE) break
        }
        const ids = listed.map(({ operationId }) => operationId)
        assert.deepStrictEqual(ids, [...new Set(ids)].toSorted())
        const ours = new Set(made.map(({ number }) => number))
        assert.sameDeepMembers(
          listed.filter(({ number }) => ours.has(number)),
          others
        )
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
          assert.deepStrictEqual(yield* reservedAmong(store, [a]), new Set())
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
