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

const chosen = Effect.gen(function* () {
  const store = yield* PhoneNumberStore
  const [number, operation] = yield* Effect.all([Sample.e164, Fresh.id])
  assert.strictEqual(yield* store.choose(number, operation), "chosen")
  return { store, number, operation }
})

const givingUp: Freeing = Effect.map(chosen, ({ number, operation, store }) => ({
  number,
  first: store.unchoose(operation)
}))

const changing: Freeing = Effect.gen(function* () {
  const { number, operation, store } = yield* chosen
  return { number, first: store.choose(yield* Sample.e164, operation) }
})

/** Tests of overlapping transactions on one phone number. */
export const numberOverlapTests: ContractTests<PhoneNumberStore> = (it, capabilities) => {
  describe("two transactions on one number", () => {
    it.effect("choose it for one: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const number = yield* Sample.e164
          const answers = yield* overlapping(capabilities, {
            first: store.choose(number, yield* Fresh.id),
            second: store.choose(number, yield* Fresh.id),
            firstEnds
          })
          assert.deepStrictEqual(answers, ["chosen", firstEnds === "committed" ? "taken" : "chosen"])
        }
      })
    )

    it.effect("choose it if it is given up or released, and not otherwise", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        for (const prepare of [releasing, givingUp, changing]) {
          for (const firstEnds of ["committed", "rolled back"] as const) {
            const { first, number } = yield* prepare
            const second = store.choose(number, yield* Fresh.id)
            const [, answer] = yield* overlapping(capabilities, { first, second, firstEnds })
            assert.strictEqual(answer, firstEnds === "committed" ? "chosen" : "taken")
          }
        }
      })
    )

    it.effect("do not choose it while it becomes ours", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const tenant = yield* Fresh.tenant
          const number = yield* Sample.phoneNumber(tenant)
          const operation = yield* Fresh.id
          yield* store.choose(number.number, operation)
          const [, second] = yield* overlapping(capabilities, {
            first: store.create(number, operation),
            second: store.choose(number.number, yield* Fresh.id),
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
        yield* store.choose(a, one)
        yield* store.choose(b, two)
        const answers = yield* overlapping(capabilities, {
          first: store.choose(b, one),
          second: store.choose(a, two),
          firstEnds: "committed"
        })
        assert.deepStrictEqual(answers, ["taken", "taken"])
        assert.deepStrictEqual([yield* store.chosen(one), yield* store.chosen(two)], [Option.some(a), Option.some(b)])
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
