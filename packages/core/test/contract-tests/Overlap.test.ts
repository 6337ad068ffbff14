import { TenantStore, Transactor } from "@agentos/core"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { overlapping } from "../../contract-tests/Overlap.ts"

/** Transactions that block nothing, so that only the order of the steps shows. */
const stores = Layer.merge(
  Layer.succeed(Transactor, { transact: (effect) => effect, ready: Effect.succeed(true) }),
  Layer.mock(TenantStore)({ find: () => Effect.as(Effect.yieldNow, Option.none()) })
)

const capabilities = { concurrentTransactions: true } as const

layer(stores)("overlapping", (it) => {
  it.effect("finishes the second while the first is open, and returns both results", () =>
    Effect.gen(function* () {
      for (const firstEnds of ["committed", "rolled back"] as const) {
        const notes: Array<string> = []
        const note = (text: string) => Effect.sync(() => notes.push(text))
        const answers = yield* overlapping(capabilities, {
          first: note("first"),
          second: Effect.andThen(Effect.yieldNow, note("second")),
          firstEnds
        }).pipe(
          Effect.provideService(Transactor, {
            transact: (effect) => Effect.ensuring(effect, note("ended")),
            ready: Effect.succeed(true)
          })
        )
        assert.deepStrictEqual(answers, [1, 2])
        assert.deepStrictEqual(notes, ["first", "second", "ended", "ended"])
      }
    })
  )

  it.effect("fails when either fails, without waiting forever", () =>
    Effect.gen(function* () {
      const fine = Effect.succeed(1)
      const broken = Effect.fail("broken" as const)
      const first = overlapping(capabilities, { first: broken, second: fine, firstEnds: "committed" })
      assert.strictEqual(yield* Effect.flip(first), "broken")
      const second = overlapping(capabilities, { first: fine, second: broken, firstEnds: "rolled back" })
      assert.strictEqual(yield* Effect.flip(second), "broken")
    })
  )
})
