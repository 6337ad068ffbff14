import { type NumberKind, NumberingPlan } from "@agentos/core"
import { Layer } from "effect"
import { getCountries, getCountryCallingCode, type NumberType, parsePhoneNumberFromString } from "libphonenumber-js/max"
import { EMERGENCY_CODES } from "./EmergencyCodes.ts"

const e164 = /^\+[1-9]\d{1,14}$/
const callingCodes: ReadonlySet<string> = new Set(getCountries().map((country) => getCountryCallingCode(country)))

/** In E.164, or as it would be dialled at home with a plus before it. */
const isEmergency = (digits: string): boolean =>
  EMERGENCY_CODES.has(digits) ||
  [1, 2, 3].some((length) => callingCodes.has(digits.slice(0, length)) && EMERGENCY_CODES.has(digits.slice(length)))

/** Of North America's plan: area code 900, the exchange 976 of any area, and its directory assistance. */
const northAmericanPremium = /^\+1(?:900\d{7}|\d{3}976\d{4}|\d{3}5551212)$/

/**
 * Satellite telephones and worldwide networks: they cost many times an ordinary call, and frauds that share in
 * what calls cost live there. 979 is premium rate by its name.
 */
const worldwidePremium = /^\+(?:870|878|881|882|883|979)/

/** What films and tests use in North America. Not all of it is valid by the metadata, and none of it rings anybody. */
const fictional = /^\+1[2-9]\d{2}55501\d{2}$/

const ofType = (type: NumberType): NumberKind => {
  switch (type) {
    case "PREMIUM_RATE":
    case "SHARED_COST":
    // They follow a person, and the caller pays for the way: up to premium rates, as the United Kingdom's 070.
    case "PERSONAL_NUMBER":
      return "premium"
    case "PAGER":
    case "VOICEMAIL":
    case undefined:
      return "uncallable"
    // A company's own number throughout its country has a subscriber like any other.
    case "UAN":
    case "FIXED_LINE":
    case "FIXED_LINE_OR_MOBILE":
    case "MOBILE":
    case "TOLL_FREE":
    case "VOIP":
      return "callable"
  }
}

const kindOf = (number: string): NumberKind => {
  if (!e164.test(number)) return "uncallable"
  if (isEmergency(number.slice(1))) return "emergency"
  if (northAmericanPremium.test(number) || worldwidePremium.test(number)) return "premium"
  if (fictional.test(number)) return "callable"
  const parsed = parsePhoneNumberFromString(number)
  // The library reads a trunk prefix, or an older form, as the number that was meant: the network might not.
  return parsed?.number === number && parsed.isValid() ? ofType(parsed.getType()) : "uncallable"
}

/** Area code and then a number that exists in every area, so that a fictional number has its area's country. */
const realOf = (fiction: string): string => `${fiction.slice(0, 5)}2345678`

const countryOf = (number: string): string | undefined => {
  if (!fictional.test(number)) return parsePhoneNumberFromString(number)?.country
  // Area codes that nobody has are fiction too, and ring nobody.
  return parsePhoneNumberFromString(realOf(number))?.country ?? "US"
}

/** The countries and territories that numbers belong to (ISO 3166-1 alpha-2, and AC and TA, which it reserves). */
export const COUNTRIES: ReadonlySet<string> = new Set(getCountries())

/**
 * What libphonenumber's metadata knows of every country's numbers, in full, with the emergency codes that it does
 * not have and the numbers of North America that cost more than their form says. North America's fictional
 * numbers (area code 555 01xx) are callable.
 */
export const layer: Layer.Layer<NumberingPlan> = Layer.succeed(NumberingPlan, { kindOf, countryOf })
