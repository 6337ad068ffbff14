import { type Operator, OperatorStore, Timestamp, Transactor } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"

const AT = Timestamp.fromMillis(1_800_000_000_000)

const operatorOf = (name: string, changes: Partial<Operator> = {}) =>
  Effect.map(Effect.all([Fresh.word, Fresh.word]), ([suffix, tokenDigest]): Operator => ({
    name: `${name}-${suffix}`,
    role: "support",
    tokenDigest,
    createdAt: AT,
    expiresAt: null,
    ...changes
  }))

const listed = (...operators: ReadonlyArray<Operator>) =>
  Effect.map(
    Effect.flatMap(OperatorStore, ({ list }) => list),
    (all) => all.filter(({ name }) => operators.some((operator) => operator.name === name))
  )

/** The contract tests of `OperatorStore`. */
export const OperatorStoreContract = defineContract<OperatorStore>("OperatorStore", (it) => {
  it.effect("lists operators in ascending order of their names, by code points", () =>
    Effect.gen(function* () {
      const store = yield* OperatorStore
      const operators = [
        yield* operatorOf("a.z"),
        yield* operatorOf("a_"),
        yield* operatorOf("ab", { role: "money", expiresAt: AT })
      ]
      yield* Effect.forEach(operators.toReversed(), store.add)
      assert.deepStrictEqual(yield* listed(...operators), operators)
    })
  )

  it.effect("adds a name once", () =>
    Effect.gen(function* () {
      const store = yield* OperatorStore
      const operator = yield* operatorOf("ada")
      assert.isTrue(yield* store.add(operator))
      assert.isFalse(yield* store.add({ ...operator, role: "money", tokenDigest: yield* Fresh.word }))
      assert.deepStrictEqual(yield* listed(operator), [operator])
    })
  )

  it.effect("replaces the token and its end, and no other field", () =>
    Effect.gen(function* () {
      const store = yield* OperatorStore
      const operator = yield* operatorOf("ada")
      const token = { tokenDigest: yield* Fresh.word, expiresAt: AT }
      assert.isFalse(yield* store.rotate(operator.name, token))
      yield* store.add(operator)
      assert.isTrue(yield* store.rotate(operator.name, token))
      assert.deepStrictEqual(yield* listed(operator), [{ ...operator, ...token }])
    })
  )

  it.effect("removes an operator, once, and undoes that with its transaction", () =>
    Effect.gen(function* () {
      const store = yield* OperatorStore
      const { transact } = yield* Transactor
      const operator = yield* operatorOf("ada")
      yield* store.add(operator)
      yield* Effect.flip(transact(Effect.andThen(store.remove(operator.name), Effect.fail("rolled back"))))
      assert.deepStrictEqual(yield* listed(operator), [operator])
      assert.isTrue(yield* store.remove(operator.name))
      assert.isFalse(yield* store.remove(operator.name))
      assert.deepStrictEqual(yield* listed(operator), [])
    })
  )
})
