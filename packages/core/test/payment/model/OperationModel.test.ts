import { OPERATION_TRANSITIONS, PaymentAdvice } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import { check, HISTORIES } from "./Check.ts"
import type { History } from "./Command.ts"
import { Hearing } from "./Hearing.ts"
import { play } from "./History.ts"

/** Fixed, unless TEST_SEED is another whole number or `random`. */
const given = process.env["TEST_SEED"] ?? "1"
const SEED = given === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(given)

/** All reasons why operations end unfulfilled. */
const ENDS = [
  ...["used_before", "refused", "expired", "used_otherwise"].map((kind) => `unpaid because ${kind}`),
  ...["settled_elsewhere", "refused", "rejected", "gone", "late", "canceled"].map(
    (kind) => `refund_due because ${kind}`
  )
]

/** The states in which a request is answered with an error. A `fulfilling` operation reports that of `settled`. */
const ERRORED = Object.keys(OPERATION_TRANSITIONS).filter((state) => state !== "fulfilled" && state !== "fulfilling")

const buy = { _tag: "Buy", wallet: 0, goods: "create", choice: 0, server: 0, copies: 1, fate: "none" } as const
const advance = { _tag: "Advance", millis: 4_000 } as const

/** Histories that failed once, by their defect. The keys are test titles. */
const REMEMBERED: Readonly<Record<string, History>> = {
  "accepts a refusal while the chain shows the payment in progress": {
    refundWallet: true,
    tiesTransfers: true,
    commands: [{ _tag: "SettleFault", mode: "settle and refuse", times: 1 }, buy, advance]
  },
  "crashes a worker that lost its operation and finds the goods delivered": {
    refundWallet: true,
    tiesTransfers: true,
    commands: [
      { _tag: "FreezeAt", server: 0, step: "after_settle", seconds: 17 },
      buy,
      { _tag: "Advance", millis: 40_000 }
    ]
  },
  "answers a used authorization with 402 while the chain can't be read": {
    refundWallet: true,
    tiesTransfers: true,
    commands: [
      { _tag: "Cut", server: 0, link: "chain", cut: true },
      { _tag: "VerifyFault", mode: "down", times: 1 },
      { ...buy, fate: "transfer" },
      advance,
      { _tag: "Retry", purchase: 0, server: 0, isAdmitted: true }
    ]
  }
}

describe("paid operations, compared with their model", () => {
  it.live(
    `keeps all properties in every history of kills, faults and races (seed ${SEED})`,
    () =>
      Effect.gen(function* () {
        const report = yield* check({ seed: SEED, histories: HISTORIES })
        if (report._tag === "Failed") return assert.fail(report.message)
        const moves = Object.entries(OPERATION_TRANSITIONS).flatMap(([from, by]) =>
          Object.values(by).map((to) => `${from} to ${to}`)
        )
        const advice = PaymentAdvice.literals.map((word) => `advised ${word}`)
        const agreed = ERRORED.map((state) => `an error agrees with the status in ${state}`)
        const wanted = [...moves, ...ENDS, ...advice, ...agreed, "heard NotAdmitted"]
        const missing = wanted.filter((name) => !report.tally.has(name))
        assert.deepStrictEqual(missing, [], "what no history came to")
      }),
    240_000
  )

  for (const [what, history] of Object.entries(REMEMBERED)) {
    it.live(`no longer ${what}`, () => Effect.asVoid(play(history)))
  }

  it.live("fails if one of its judges does", () =>
    Effect.gen(function* () {
      const judge = vi.spyOn(Hearing.prototype, "honest").mockImplementation(() => {
        throw new Error("out of order")
      })
      const { findings } = yield* Effect.flip(
        play({ refundWallet: true, tiesTransfers: true, commands: [buy, advance] })
      ).pipe(Effect.ensuring(Effect.sync(() => judge.mockRestore())))
      assert.include(findings, "a judge failed: Error: out of order")
    })
  )
})
