import { describe, expect, it } from "vitest"
import { Shop } from "../crash/Shop.ts"
import { linesOf } from "../faults/verdict/Report.ts"
import { makeRandom, testSeed } from "../support/Random.ts"
import { growthOf } from "./Memory.ts"
import { runSoak, SERVERS } from "./Soak.ts"

const SECONDS = 10

describe("three servers under a mixed load, of which two fail", () => {
  it("end with every purchase, mail and event handled, nothing in flight, and a ledger that equals the chain", () =>
    Shop.with({ database: "postgres", servers: SERVERS, isReal: true }, async (shop) => {
      const { acknowledged, inflicted, ledger, mails, memory, open, outcome } = await runSoak(shop, {
        random: makeRandom(testSeed()),
        seconds: SECONDS,
        clients: SERVERS,
        faults: 1
      })
      expect(linesOf(outcome.violations)).toEqual([])
      expect([mails.missing, open, ledger.status]).toEqual([[], { events: 0, operations: 0 }, 0])
      expect(Math.min(mails.accepted, acknowledged, memory.length, inflicted.size)).toBeGreaterThan(0)
    }))
})

describe("the growth of memory", () => {
  const samples = (bytesAt: (minute: number) => number) =>
    Array.from({ length: 31 }, (_, minutes) => ({ minutes, bytes: bytesAt(minutes) }))

  it("is that of the last two thirds", () => {
    expect(growthOf(samples((minute) => (minute < 10 ? minute * 20e6 : 200e6)))).toBeCloseTo(0, 6)
    expect(growthOf(samples((minute) => 100e6 + minute * 0.5e6))).toBeCloseTo(0.5, 6)
  })
})
