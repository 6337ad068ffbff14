import { NumberingPlan, type NumberKind } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NumberingPlanLibphonenumber } from "../../src/numbering/index.ts"

const table: ReadonlyArray<readonly [kind: NumberKind, what: string, numbers: ReadonlyArray<string>]> = [
  ["emergency", "codes after their country's", ["+1911", "+1112", "+1988", "+44999", "+44112", "+49110", "+49112"]],
  ["emergency", "other countries' codes", ["+3315", "+3317", "+61000", "+64111", "+81119", "+86120", "+91108"]],
  ["emergency", "codes as dialled at home", ["+911", "+112", "+999", "+110"]],
  ["emergency", "codes of a three-digit country", ["+353999", "+972100", "+380112"]],
  ["premium", "North America's 900", ["+19002345678", "+19005550123"]],
  ["premium", "North America's 976", ["+12129761234", "+14159760000"]],
  ["premium", "directory assistance", ["+12125551212"]],
  ["premium", "premium rates of Europe", ["+449098790000", "+33891123456", "+499001123456", "+39899123456"]],
  ["premium", "shared cost", ["+448431234567", "+4918001234567"]],
  ["premium", "personal numbers", ["+447012345678"]],
  ["premium", "worldwide premium rate", ["+979123456789"]],
  ["premium", "satellites and worldwide networks", ["+870773111632", "+881612345678", "+882161234567"]],
  ["uncallable", "no plan's", ["+999123456789", "+2101234567", "+15555555555", "+10000000000", "+11234567890"]],
  ["uncallable", "too short and too long", ["+1212555", "+44207", "+121255501234", "+4420794600001"]],
  ["uncallable", "a trunk prefix left in", ["+4402079460958", "+1112125550123", "+490301234567"]],
  ["uncallable", "pagers", ["+447640123456"]],
  [
    "uncallable",
    "not E.164",
    ["", "+", "12125550123", "+1 212 555 0123", "+01234567", "+1234567890123456", "+1212555012x"]
  ],
  ["callable", "North America", ["+12127363100", "+14163922489", "+18007427526", "+18765550199"]],
  ["callable", "fiction of any area", ["+12125550100", "+15005550123", "+15555550199", "+19995550142"]],
  ["callable", "Europe", ["+442079460958", "+447400123456", "+4930123456", "+33612345678", "+390612345678"]],
  ["callable", "elsewhere", ["+81312345678", "+8613812345678", "+919876543210", "+61412345678", "+5511961234567"]],
  ["callable", "a company's number throughout its country", ["+9221111825888"]]
]

const countries: ReadonlyArray<readonly [country: string | undefined, numbers: ReadonlyArray<string>]> = [
  ["US", ["+12127363100", "+18007427526", "+18883334444", "+19073520000"]],
  ["CA", ["+14163922489", "+18677660123", "+16046532222"]],
  ["JM", ["+18765230199", "+16585230123"]],
  ["BS", ["+12423221234"]],
  ["DO", ["+18092345678", "+18292345678", "+18492345678"]],
  ["TT", ["+18682211234"]],
  ["BM", ["+14414123456"]],
  ["PR", ["+17872345678"]],
  ["GU", ["+16713001234"]],
  ["SX", ["+17215425678"]],
  ["AC", ["+24762889"]],
  ["SH", ["+29022158"]],
  ["GB", ["+442079460958", "+447400123456"]],
  ["JE", ["+447797712345"]],
  ["KZ", ["+77172580392"]],
  ["US", ["+12125550100", "+15005550123", "+15555550199", "+19995550142"]],
  ["CA", ["+16045550123"]],
  ["JM", ["+18765550199"]],
  [undefined, ["+80012345678", "+870773111632", "+881612345678", "+883510000000092", ""]]
]

describe("NumberingPlanLibphonenumber", () => {
  it.effect.each(countries)("returns the country of numbers of %s", ([country, numbers]) =>
    Effect.gen(function* () {
      const plan = yield* NumberingPlan
      assert.deepStrictEqual(
        numbers.map((number) => [number, plan.countryOf(number)]),
        numbers.map((number) => [number, country])
      )
    }).pipe(Effect.provide(NumberingPlanLibphonenumber.layer))
  )

  it.effect.each(table)("%s: %s", ([kind, , numbers]) =>
    Effect.gen(function* () {
      const plan = yield* NumberingPlan
      assert.deepStrictEqual(
        numbers.map((number) => [number, plan.kindOf(number)]),
        numbers.map((number) => [number, kind])
      )
    }).pipe(Effect.provide(NumberingPlanLibphonenumber.layer))
  )
})
