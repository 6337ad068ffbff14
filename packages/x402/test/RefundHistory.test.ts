import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type Conduct, refund, start } from "./support/RefundFake.ts"
import * as Sample from "./support/Sample.ts"
import { SEED } from "./support/Sample.ts"

/** The events that may happen while money is owed, in any order. */
const Step = Schema.Union([
  /** Several servers advance the refund at the same time, while the facilitator behaves like this. */
  Schema.Struct({
    do: Schema.Literal("refund"),
    servers: Schema.Literals([1, 2, 4]),
    conduct: Schema.Literals(["settles", "loses the answer", "loses it", "fails", "insufficient_funds"])
  }),
  /** All settlements that the facilitator submitted without reporting them are mined. */
  Schema.Struct({ do: Schema.Literal("mine lost settlements") }),
  /** A reorganization removes the newest blocks: those of the refund, or also those of the payment. */
  Schema.Struct({ do: Schema.Literal("reorganise"), from: Schema.Literals([60, 95]) }),
  /** The payment is mined again. */
  Schema.Struct({ do: Schema.Literal("mine the payment") }),
  Schema.Struct({ do: Schema.Literal("finalise"), block: Schema.Literals([60, 99]) }),
  Schema.Struct({ do: Schema.Literal("wait"), seconds: Schema.Literals([1, 700]) })
])
type Step = typeof Step.Type

const conductOf = (name: Extract<Step, { do: "refund" }>["conduct"]): Conduct =>
  name === "insufficient_funds" ? { refuses: name } : name

const play = Effect.fnUntraced(function* (rig: Effect.Success<ReturnType<typeof start>>, step: Step) {
  const { facilitator, otherRail, rail, state } = rig
  switch (step.do) {
    case "refund": {
      facilitator.conduct = conductOf(step.conduct)
      const rails = [rail, otherRail, rail, otherRail].slice(0, step.servers)
      const before = { final: state.finalized.number, moved: rig.moved(), paid: rig.isPaid() }
      const results = yield* Effect.forEach(rails, (each) => Effect.result(each.refund(refund())), {
        concurrency: "unbounded"
      })
      for (const result of results) {
        if (result._tag === "Success" && result.success._tag === "Paid") assert.strictEqual(rig.moved(), Sample.price)
        if (result._tag === "Failure") assert.strictEqual(result.failure.reason, "Misconfigured")
      }
      // No refund starts for a payment that is missing or not final.
      if (!before.paid || before.final < rig.paidInBlock()) assert.strictEqual(rig.moved(), before.moved)
      return
    }
    case "mine lost settlements":
      return rig.mineLost()
    case "reorganise":
      return rig.dropFrom(step.from)
    case "mine the payment":
      return rig.isPaid() ? undefined : rig.pay(60)
    case "finalise":
      state.finalized = { number: step.block, timestamp: 1_000 }
      return
    case "wait":
      yield* TestClock.adjust(step.seconds * 1_000)
  }
})

describe("A refund", () => {
  it.effect.prop(
    "moves its money once, whatever happens in between, and ends as paid once all works again",
    { paidAtFirst: Schema.Boolean, steps: Schema.Array(Step).check(Schema.isMinLength(4), Schema.isMaxLength(14)) },
    ({ paidAtFirst, steps }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const rig = yield* start()
          rig.state.finalized = { number: 59, timestamp: 1_000 }
          if (!paidAtFirst) rig.dropFrom(60)
          for (const step of steps) {
            yield* play(rig, step)
            assert.isTrue([0n, Sample.price].includes(rig.moved()), `${rig.moved()} went back`)
          }
          if (!rig.isPaid()) rig.pay(60)
          rig.state.finalized = { number: 99, timestamp: 1_000 }
          rig.facilitator.conduct = "settles"
          const paid = yield* rig.rail.refund(refund())
          assert.strictEqual(paid._tag, "Paid")
          rig.mineLost()
          assert.deepStrictEqual(yield* rig.otherRail.refund(refund()), paid)
          assert.strictEqual(rig.moved(), Sample.price)
        })
      ),
    { arbitrary: { seed: SEED, runs: 20 }, timeout: 90_000 }
  )
})
