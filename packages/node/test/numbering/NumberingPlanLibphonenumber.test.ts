import { NumberingPlan, type NumberKind } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parsePhoneNumberFromString } from "libphonenumber-js/max"
import { AREA_CODES, countryOfAreaCode } from "../../src/numbering/AreaCodes.ts"
import { NumberingPlanLibphonenumber } from "../../src/numbering/index.ts"
import { lookUp } from "../../src/numbering/NorthAmerica.ts"
import { IN_SERVICE } from "./NanpaDatabase.ts"

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
  ["uncallable", "North American numbers of 7 digits", ["+13102345", "+18675309", "+13100008", "+1310555012"]],
  ["uncallable", "N11 as exchange and as area code", ["+12124112345", "+14169112345", "+14112345678", "+19115550123"]],
  ["uncallable", "a 0 or 1 at the start of area code or exchange", ["+10122345678", "+12120345678", "+12121345678"]],
  ["uncallable", "North America's codes without subscribers", ["+17002345678", "+17106274387", "+18222345678"]],
  ["uncallable", "reserved toll-free codes", ["+18812345678", "+18872345678", "+18892345678"]],
  [
    "uncallable",
    "codes for the expansion of the plan",
    ["+12902345678", "+13702345678", "+19632345678", "+19992345678"]
  ],
  ["uncallable", "two equal last digits without a service", ["+12222345678", "+15552345678", "+17332345678"]],
  ["uncallable", "pagers", ["+447640123456"]],
  [
    "uncallable",
    "not E.164",
    ["", "+", "12125550123", "+1 212 555 0123", "+01234567", "+1234567890123456", "+1212555012x"]
  ],
  ["callable", "area codes that the metadata lacks", ["+14362345678", "+18612345678", "+16242345678", "+14362011234"]],
  ["callable", "area codes that no table has", ["+12322345678", "+19352345678"]],
  ["callable", "Canadian non-geographic services", ["+16002345678", "+16222345678", "+16332345678"]],
  [
    "callable",
    "toll-free",
    ["+18332345678", "+18442345678", "+18552345678", "+18662345678", "+18772345678", "+18882345678"]
  ],
  ["premium", "North America's personal numbers", ["+15002345678", "+15212345678", "+15382345678", "+15422345678"]],
  ["callable", "North America", ["+12127363100", "+14163922489", "+18007427526", "+18765550199"]],
  ["callable", "fiction of any area", ["+12125550100", "+15005550123", "+15555550199", "+19995550142"]],
  ["callable", "Europe", ["+442079460958", "+447400123456", "+4930123456", "+33612345678", "+390612345678"]],
  ["callable", "elsewhere", ["+81312345678", "+8613812345678", "+919876543210", "+61412345678", "+5511961234567"]],
  ["callable", "a company's number throughout its country", ["+9221111825888"]]
]

const countries: ReadonlyArray<readonly [country: string | undefined, numbers: ReadonlyArray<string>]> = [
  ["US", ["+12127363100", "+18007427526", "+18883334444", "+19073520000"]],
  ["US", ["+14362345678", "+18612345678", "+16242345678", "+12322345678"]],
  ["CA", ["+16222345678", "+16002345678"]],
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

/** The countries of the locations in NANPA's file that are neither states of the United States nor services. */
const COUNTRIES: ReadonlyMap<string, string> = new Map([
  ...["Alberta", "British Columbia", "Manitoba", "New Brunswick", "Newfoundland and Labrador"].map(inCanada),
  ...["Northwest Territories, Yukon and Nunavut", "Nova Scotia and Prince Edward Island"].map(inCanada),
  ...["Ontario", "Quebec", "Saskatchewan"].map(inCanada),
  ["American Samoa", "AS"],
  ["Anguilla", "AI"],
  ["Antigua and Barbuda", "AG"],
  ["Barbados", "BB"],
  ["Bermuda", "BM"],
  ["British Virgin Islands", "VG"],
  ["Cayman Islands", "KY"],
  ["Dominica", "DM"],
  ["Dominican Republic", "DO"],
  ["Grenada", "GD"],
  ["Guam", "GU"],
  ["Jamaica", "JM"],
  ["Montserrat", "MS"],
  ["Northern Mariana Islands", "MP"],
  ["Puerto Rico", "PR"],
  ["Saint Kitts and Nevis", "KN"],
  ["Saint Lucia", "LC"],
  ["Saint Vincent and the Grenadines", "VC"],
  ["Sint Maarten", "SX"],
  ["The Bahamas", "BS"],
  ["Trinidad and Tobago", "TT"],
  ["Turks and Caicos Islands", "TC"],
  ["U.S. Virgin Islands", "VI"]
])

function inCanada(province: string): readonly [string, string] {
  return [province, "CA"]
}

/** The services in NANPA's file, and the kind of their numbers. */
const SERVICES: ReadonlyMap<string, NumberKind> = new Map([
  ["Canada, non-geographic", "callable"],
  ["Canada, non-geographic tariffed services", "callable"],
  ["Interexchange carrier services", "uncallable"],
  ["Premium services", "premium"],
  ["Toll-free", "callable"],
  ["United States Government", "uncallable"],
  ["United States, non-geographic", "premium"]
])

/** Subscriber numbers of which each area has one: ranges differ by area in the metadata. */
const LINES = ["2345678", "2001234", "9876543", "3654321", "4215678", "8675309", "7305521", "5425678"].concat([
  "4972345",
  "4912345",
  "6222345",
  "4302345",
  "7652345"
])
const isKnown = (areaCode: string) =>
  LINES.some((line) => parsePhoneNumberFromString(`+1${areaCode}${line}`)?.isValid() === true)

describe("the North American area codes", () => {
  const places = Object.entries(IN_SERVICE).filter(([location]) => !SERVICES.has(location))

  it("are those that NANPA lists as in service, with their countries", () => {
    const published = places.flatMap(([location, codes]) =>
      codes.map((code) => [`${code}`, COUNTRIES.get(location) ?? "US"] as const)
    )
    assert.deepStrictEqual(
      Object.fromEntries(AREA_CODES.map((code) => [code, countryOfAreaCode(code)])),
      Object.fromEntries(published)
    )
    assert.lengthOf(published, 454)
  })

  it("of every place can be called, and those of services by their rule", () => {
    for (const code of AREA_CODES) assert.strictEqual(lookUp(`+1${code}2345678`).kind, "callable", code)
    for (const [service, kind] of SERVICES)
      for (const code of IN_SERVICE[service] ?? []) {
        const found = lookUp(`+1${code}2345678`)
        assert.deepStrictEqual([found.kind, found.rule === undefined], [kind, false], `${code}`)
      }
  })

  /** When this fails, the metadata has changed: update the lists. */
  it("differ from libphonenumber-js 1.13.16 in the codes named here", () => {
    const published = Object.values(IN_SERVICE).flat().map(String)
    const all = Array.from({ length: 800 }, (_, index) => `${200 + index}`)
    assert.deepStrictEqual(
      {
        lacking: all.filter((code) => published.includes(code) && !isKnown(code)),
        notInService: all.filter((code) => !published.includes(code) && isKnown(code))
      },
      {
        lacking: "357 436 457 465 471 483 538 542 621 624 679 700 710 729 837 861 924".split(" "),
        // Quebec's next code.
        notInService: ["273"]
      }
    )
  })
})

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
