import { type PhoneNumber, PhoneNumberStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option, Schema } from "effect"
import { type ContractTests, propertyOptions } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Sample from "./PhoneNumberSample.ts"

const COUNT = 3
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
    const reserved = numbers.filter((_, at) => typeof places[at] === "number")
    assert.deepStrictEqual(yield* store.findReserved(numbers), new Set(reserved))
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
export const numberReservationModelTests: ContractTests<PhoneNumberStore> = (it, capabilities) => {
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
