import { expect, it } from "vitest"
import type { ComparisonResult } from "../Bench.ts"
import { best, judge, ratiosOf } from "./Verdict.ts"

const failed = (...given: Parameters<typeof judge>) =>
  judge(...given)
    .filter(({ isPassed }) => !isPassed)
    .map(({ title }) => title)

it("fails a ratio that is less than half of the one on record", () => {
  const onRecord = { "402 challenge": 0.9, list: 1.5 }
  expect(failed(onRecord, { "402 challenge": 0.45, list: 0.76 })).toEqual([])
  expect(failed(onRecord, { "402 challenge": 0.44, list: 1.6 })).toEqual(["402 challenge"])
})

it("fails a comparison that did not run, and one that has no ratio on record", () => {
  expect(failed({ list: 1 }, {})).toEqual(["list"])
  expect(failed({}, { list: 1 })).toEqual(["list"])
  expect(failed({ list: 1 }, { list: Number.NaN })).toEqual(["list"])
})

it("takes the better of two attempts, for each comparison", () => {
  expect(best({ list: 0.4, record: 1.1 }, { list: 0.8, catalog: 2 })).toEqual({ list: 0.8, record: 1.1, catalog: 2 })
})

it("reads the ratio to the first peer", () => {
  const ratio = (peer: string, ofMedians: number) => ({ peer, ofMedians, paired: [] })
  const result: ComparisonResult = {
    title: "list",
    unit: "answers",
    goal: 1,
    sides: [],
    ratios: [ratio("Fastify", 1.234), ratio("node:http", 0.5)]
  }
  expect(ratiosOf([result])).toEqual({ list: 1.23 })
})
