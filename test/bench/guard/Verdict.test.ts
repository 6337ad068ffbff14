import { expect, it } from "vitest"
import type { ComparisonResult } from "../Bench.ts"
import { best, judge, medians, ratiosOf } from "./Verdict.ts"

const failed = (...given: Parameters<typeof judge>) =>
  judge(...given)
    .filter(({ isPassed }) => !isPassed)
    .map(({ title, what }) => `${title}: ${what}`)

const RATE = "rate beside the peer"
const COST = "processor time beside the last release"

it("fails a rate that is less than half of its share on record", () => {
  const onRecord = { challenge: { rate: 0.9, cost: 1 }, list: { rate: 1.5, cost: 1 } }
  expect(failed(onRecord, { challenge: { rate: 0.45, cost: 1 }, list: { rate: 0.76, cost: 1 } })).toEqual([])
  const slower = { challenge: { rate: 0.44, cost: 1 }, list: { rate: 1.6, cost: 1 } }
  expect(failed(onRecord, slower)).toEqual([`challenge: ${RATE}`])
})

it("fails processor time that has grown by more than 15 % of its share on record", () => {
  const onRecord = { purchase: { rate: 0.3, cost: 1 } }
  expect(failed(onRecord, { purchase: { rate: 0.3, cost: 1.15 } })).toEqual([])
  expect(failed(onRecord, { purchase: { rate: 0.3, cost: 1.16 } })).toEqual([`purchase: ${COST}`])
})

it("fails a comparison that did not run, and one that has no ratio on record", () => {
  const list = { list: { rate: 1, cost: 1 } }
  expect(failed(list, {})).toEqual([`list: ${RATE}`, `list: ${COST}`])
  expect(failed({}, list)).toEqual([`list: ${RATE}`, `list: ${COST}`])
  expect(failed(list, { list: { rate: Number.NaN, cost: Number.NaN } })).toEqual([`list: ${RATE}`, `list: ${COST}`])
})

it("takes the better of two attempts, for each ratio", () => {
  const one = { list: { rate: 0.4, cost: 1.2 }, record: { rate: 1.1, cost: 1 } }
  expect(best(one, { list: { rate: 0.8, cost: 1.3 }, catalog: { rate: 2, cost: 0.5 } })).toEqual({
    list: { rate: 0.8, cost: 1.2 },
    record: { rate: 1.1, cost: 1 },
    catalog: { rate: 2, cost: 0.5 }
  })
})

it("records the median of several attempts, for each ratio", () => {
  const attempts = [
    { list: { rate: 0.4, cost: 1.2 } },
    { list: { rate: 0.9, cost: 1 } },
    { list: { rate: 0.5, cost: 1.1 }, record: { rate: 1, cost: 1 } }
  ]
  expect(medians(attempts)).toEqual({ list: { rate: 0.5, cost: 1.1 }, record: { rate: 1, cost: 1 } })
})

it("reads the rate beside the first peer, and the processor time beside the last side", () => {
  const ratio = (peer: string, ofMedians: number) => ({ peer, ofMedians, paired: [] })
  const side = (name: string, cpuMillis: ReadonlyArray<number>) => ({ name, rates: [], cpuMillis })
  const result: ComparisonResult = {
    title: "list",
    unit: "answers",
    goal: 1,
    sides: [
      side("ours", [2, 9, 4]),
      side("Fastify", [1, 1, 1]),
      side("node:http", [1, 1, 1]),
      side("0.1.0", [4, 9, 5])
    ],
    ratios: [ratio("Fastify", 1.234), ratio("node:http", 0.5), ratio("0.1.0", 1.1)]
  }
  expect(ratiosOf([result])).toEqual({ list: { rate: 1.23, cost: 0.8 } })
})
