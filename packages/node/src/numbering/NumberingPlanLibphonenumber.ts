import { type NumberKind, NumberingPlan } from "@agentos/core"
import { Layer } from "effect"
import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  type NumberType,
  parsePhoneNumberFromString
} from "libphonenumber-js/max"
import { lookUp } from "./NorthAmerica.ts"

const e164 = /^\+[1-9]\d{1,14}$/

/** Made on first use: the metadata is large, and many servers never read it. */
let knownCodes: ReadonlySet<string> | undefined
const callingCodes = (): ReadonlySet<string> =>
  (knownCodes ??= new Set(getCountries().map((country) => getCountryCallingCode(country))))

const emergencyCodes = `
  000 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119
  120 121 122 123 124 125 126 127 128 129 131 132 133 140 144 145 147 150 151 155 156 158 159
  160 161 166 177 180 185 190 191 192 193 194 195 196 197 198 199
  15 17 18 061 062 066 080 085 088 091 092 333 442 444 777 911 912 913 917 919 933 988
  990 991 992 993 994 995 996 997 998 999 1122 1414 10111 10177
`

/**
 * The short codes for police, ambulance, fire brigade, coast guard and crisis lines of all countries, including the
 * complete series 100 to 129. One set serves all countries: no plan assigns a subscriber a national number this short,
 * and networks accept several codes (above all 112 and 911) in every country.
 */
const EMERGENCY_CODES: ReadonlySet<string> = new Set(emergencyCodes.trim().split(/\s+/))

/** Matches a code after a country code, or a code as dialed locally with a plus before it. */
const isEmergency = (digits: string): boolean =>
  EMERGENCY_CODES.has(digits) ||
  [1, 2, 3].some((length) => callingCodes().has(digits.slice(0, length)) && EMERGENCY_CODES.has(digits.slice(length)))

/**
 * Satellite telephones and worldwide networks. They cost many times an ordinary call, and revenue-share fraud uses
 * them. 979 is the premium rate code.
 */
const worldwidePremium = /^\+(?:870|878|881|882|883|979)/

const ofType = (type: NumberType): NumberKind => {
  switch (type) {
    case "PREMIUM_RATE":
    case "SHARED_COST":
    // They forward to a person at the caller's expense, up to premium rates, as 070 in the United Kingdom.
    case "PERSONAL_NUMBER":
      return "premium"
    case "PAGER":
    case "VOICEMAIL":
    case undefined:
      return "uncallable"
    // A company's nationwide number has a subscriber like any other.
    case "UAN":
    case "FIXED_LINE":
    case "FIXED_LINE_OR_MOBILE":
    case "MOBILE":
    case "TOLL_FREE":
    case "VOIP":
      return "callable"
  }
}

/** The kind of an ordinary North American number: callable, unless the metadata knows it as a pager or the like. */
const ordinaryKindOf = (number: string): NumberKind => {
  const parsed = parsePhoneNumberFromString(number)
  return parsed?.isValid() === true ? ofType(parsed.getType()) : "callable"
}

const kindOf = (number: string): NumberKind => {
  if (!e164.test(number)) return "uncallable"
  if (isEmergency(number.slice(1))) return "emergency"
  if (number.startsWith("+1")) {
    const { kind, rule } = lookUp(number)
    return rule === undefined && kind === "callable" ? ordinaryKindOf(number) : kind
  }
  if (worldwidePremium.test(number)) return "premium"
  const parsed = parsePhoneNumberFromString(number)
  // The library corrects a trunk prefix or an older form to the intended number, but the network might not.
  return parsed?.number === number && parsed.isValid() ? ofType(parsed.getType()) : "uncallable"
}

const countryOf = (number: string): string | undefined => {
  const country = parsePhoneNumberFromString(number)?.country
  // Most of the area codes that enter service are in the United States.
  return number.startsWith("+1") ? (lookUp(number).country ?? country ?? "US") : country
}

/** Whether a country or territory has telephone numbers. Takes codes of ISO 3166-1 alpha-2, and AC and TA, which it reserves. */
export const isCountry = (code: string): boolean => isSupportedCountry(code)

/**
 * The numbering plan of every country from libphonenumber's complete metadata, with added emergency codes. North America
 * has its own rules and area codes (`NUMBER_RULES`, `AREA_CODES`): the metadata lacks some that are in service. Its
 * fictional numbers (area code, 555 01xx) are callable.
 */
export const layer: Layer.Layer<NumberingPlan> = Layer.succeed(NumberingPlan, { kindOf, countryOf })
