import { PhoneNumberStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ContractTests, HarnessServices } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import * as Sample from "./PhoneNumberSample.ts"

/** A number with a holder, and an effect that frees it. */
type Freeing = Effect.Effect<
  { readonly number: string; readonly first: Effect.Effect<unknown> },
  never,
  PhoneNumberStore | HarnessServices
>

const releasing: Freeing = Effect.gen(function* () {
  const store = yield* PhoneNumberStore
  const { number } = yield* Sample.owner
  return { number: number.number, first: store.update(Sample.released(number)) }
})

const reserved = Effect.gen(function* () {
  const store = yield* PhoneNumberStore
  const [number, operation] = yield* Effect.all([Sample.e164, Fresh.id])
  assert.strictEqual(yield* store.reserve(number, operation), "reserved")
  return { store, number, operation }
})

const releasingReservation: Freeing = Effect.map(reserved, ({ number, operation, store }) => ({
  number,
  first: store.release(operation)
}))

const changing: Freeing = Effect.gen(function* () {
  const { number, operation, store } = yield* reserved
  return { number, first: store.reserve(yield* Sample.e164, operation) }
})

/** Tests of overlapping transactions on one phone number. */
export const numberOverlapTests: ContractTests<PhoneNumberStore> = (it, capabilities) => {
  describe("two transactions on one number", () => {
    it.effect("reserve it for one: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const number = yield* Sample.e164
          const answers = yield* overlapping(capabilities, {
            first: store.reserve(number, yield* Fresh.id),
            second: store.reserve(number, yield* Fresh.id),
            firstEnds
          })
          assert.deepStrictEqual(answers, ["reserved", firstEnds === "committed" ? "taken" : "reserved"])
        }
      })
    )

    it.effect("reserve it if its reservation or the number is released, and not otherwise", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        for (const prepare of [releasing, releasingReservation, changing]) {
          for (const firstEnds of ["committed", "rolled back"] as const) {
            const { first, number } = yield* prepare
            const second = store.reserve(number, yield* Fresh.id)
            const [, answer] = yield* overlapping(capabilities, { first, second, firstEnds })
            assert.strictEqual(answer, firstEnds === "committed" ? "reserved" : "taken")
          }
        }
      })
    )

    it.effect("do not reserve it while it is stored", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const tenant = yield* Fresh.tenant
          const number = yield* Sample.phoneNumber(tenant)
          const operation = yield* Fresh.id
          yield* store.reserve(number.number, operation)
          const [, second] = yield* overlapping(capabilities, {
            first: store.create(number, operation),
            second: store.reserve(number.number, yield* Fresh.id),
            firstEnds
          })
          assert.strictEqual(second, "taken")
          const expected = firstEnds === "committed" ? Option.some(number) : Option.none()
          assert.deepStrictEqual(yield* store.findByNumber(number.number), expected)
        }
      })
    )

    it.effect("that want each other's number do not wait, and each keep their own", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const [a, b] = yield* Effect.all([Sample.e164, Sample.e164])
        const [one, two] = yield* Effect.all([Fresh.id, Fresh.id])
        yield* store.reserve(a, one)
        yield* store.reserve(b, two)
        const answers = yield* overlapping(capabilities, {
          first: store.reserve(b, one),
          second: store.reserve(a, two),
          firstEnds: "committed"
        })
        assert.deepStrictEqual(answers, ["taken", "taken"])
        assert.deepStrictEqual(
          [yield* store.reservation(one), yield* store.reservation(two)],
          [Option.some(a), Option.some(b)]
        )
      })
    )

    it.effect("release it once, and change nothing of it after that", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { number, tenantId } = yield* Sample.owner
        const [first, second] = yield* overlapping(capabilities, {
          first: store.update(Sample.released(number)),
          second: store.update({ ...number, agentName: "late" }),
          firstEnds: "committed"
        })
        assert.deepStrictEqual([first, second], [true, false])
        assert.deepStrictEqual(yield* store.list(tenantId), [Sample.released(number)])
      })
    )
  })
}
