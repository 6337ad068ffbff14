import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { Timestamp } from "../../src/index.ts"

/** The last millisecond that a Date can hold. */
const LAST = 8_640_000_000_000_000

const iso = (millis: number): string => Timestamp.toIso(Timestamp.fromMillis(millis))

describe("Timestamp.toIso", () => {
  it.effect("writes what Date writes, for times in any order", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 5_000; round++) {
        // Half of the times are close to each other, as in a page of records.
        const range = round % 2 === 0 ? LAST : 3 * Timestamp.DAY
        const millis = Math.floor((yield* Random.next) * range)
        assert.strictEqual(iso(millis), new Date(millis).toISOString())
      }
    })
  )

  it("writes the bounds of a day, of a four-digit year and of Date", () => {
    const year = Date.UTC(9_999, 11, 31)
    for (const day of [0, Date.UTC(2026, 1, 28), Date.UTC(2028, 1, 29), year, year + Timestamp.DAY]) {
      for (const millis of [day, day + 1, day + Timestamp.DAY - 1, day])
        assert.strictEqual(iso(millis), new Date(millis).toISOString())
    }
    assert.strictEqual(iso(LAST), new Date(LAST).toISOString())
  })
})

describe("Timestamp.fromMillis", () => {
  it("refuses values other than a whole number of milliseconds since the epoch", () => {
    for (const millis of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1]) {
      assert.throws(() => Timestamp.fromMillis(millis), RangeError)
    }
  })
})
