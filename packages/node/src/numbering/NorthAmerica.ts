import type { NumberKind } from "@agentos/core"
import { countryOfAreaCode } from "./AreaCodes.ts"

/** A rule for numbers of the North American Numbering Plan, in the form `NXXNXXXXXX`. */
interface NumberRule {
  readonly numbers: RegExp
  readonly kind: NumberKind
  /** The country of the numbers; default: that of the area code. */
  readonly country?: string
  readonly reason: string
  readonly source: string
}

const NANPA_DATABASE = "NANPA, NPA Database of 2026-09-21 (https://reports.nanpa.com/public/npa_report.csv)"
const NPA_GUIDELINES = "ATIS-0300055, NPA Allocation Plan and Assignment Guidelines"
const EXCHANGE_GUIDELINES = "ATIS-0300119 of 2023-09-01, Central Office Code (NPA-NXX) Administration Guidelines"
const FIVES = "ATIS-0300115 of 2016-10-05, 555 NXX Line Number Reference Document"

/**
 * The rules, of which the first that matches decides. A number of the form NXX NXX XXXX that none of them matches is
 * callable, whether or not its area code is known: area codes enter service every few weeks.
 */
export const NUMBER_RULES: ReadonlyArray<NumberRule> = [
  {
    numbers: /^[2-9]11|^\d{3}[2-9]11/,
    kind: "uncallable",
    reason: "N11 codes are services such as 411 and 911, as an area code and as an exchange.",
    source: `${NPA_GUIDELINES}; ${EXCHANGE_GUIDELINES}`
  },
  {
    numbers: /^900/,
    kind: "premium",
    reason: "900 is for calls that the caller pays at the rate of the called company.",
    source: NANPA_DATABASE
  },
  {
    numbers: /^\d{3}976/,
    kind: "premium",
    reason: "Exchange 976 is for information services at the caller's expense in every area.",
    source: EXCHANGE_GUIDELINES
  },
  {
    numbers: /^\d{3}5551212$/,
    kind: "premium",
    reason: "555-1212 is directory assistance, which is charged for each call.",
    source: FIVES
  },
  {
    numbers: /^\d{3}55501/,
    kind: "callable",
    reason: "555-0100 to 555-0199 are for films and tests of any area. They reach no subscriber.",
    source: FIVES
  },
  {
    numbers: /^(?:8(?:00|33|44|55|66|77|88))/,
    kind: "callable",
    country: "US",
    reason: "Toll-free: the called company pays.",
    source: NANPA_DATABASE
  },
  {
    numbers: /^(?:822|88[0-79])/,
    kind: "uncallable",
    reason: "Reserved for further toll-free codes. None of them is in service.",
    source: NPA_GUIDELINES
  },
  {
    numbers: /^6(?:00|22|33|44|55|77|88)/,
    kind: "callable",
    country: "CA",
    reason: "Canadian non-geographic services: 600, 622 and 633 are in service, the others are reserved.",
    source: NANPA_DATABASE
  },
  {
    numbers: /^5(?:00|2[1-9]|3[238]|4[24]|66|77|88)/,
    kind: "premium",
    country: "US",
    reason: "Personal communications services, which forward calls anywhere at a charge that their provider sets.",
    source: NANPA_DATABASE
  },
  {
    numbers: /^700/,
    kind: "uncallable",
    reason: "Each long-distance carrier has its own services under 700. They can't be called from other networks.",
    source: NANPA_DATABASE
  },
  {
    numbers: /^710/,
    kind: "uncallable",
    reason: "Emergency services of the government of the United States.",
    source: NANPA_DATABASE
  },
  {
    numbers: /^\d9\d/,
    kind: "uncallable",
    reason: "Area codes with the middle digit 9 are kept for the expansion of the plan.",
    source: NPA_GUIDELINES
  },
  {
    numbers: /^(?:37|96)\d/,
    kind: "uncallable",
    reason: "37X and 96X are kept for purposes that need ten area codes in a row.",
    source: NPA_GUIDELINES
  },
  {
    numbers: /^\d(\d)\1/,
    kind: "uncallable",
    reason:
      "Area codes with two equal last digits are for services, not for places. The services above are all that exist.",
    source: NPA_GUIDELINES
  }
]

/** The form of a number: neither area code nor exchange begins with 0 or 1. */
const NXX_NXX_XXXX = /^\+1([2-9]\d\d[2-9]\d{6})$/

/** The entry of a number in the plan; `rule` is undefined for an ordinary number. */
export interface NorthAmericanNumber {
  readonly kind: NumberKind
  /** Undefined if neither a rule nor the table has the country. */
  readonly country: string | undefined
  readonly rule: NumberRule | undefined
}

export const lookUp = (number: string): NorthAmericanNumber => {
  const national = NXX_NXX_XXXX.exec(number)?.[1]
  if (national === undefined) return { kind: "uncallable", country: undefined, rule: undefined }
  const rule = NUMBER_RULES.find(({ numbers }) => numbers.test(national))
  return { kind: rule?.kind ?? "callable", country: rule?.country ?? countryOfAreaCode(national.slice(0, 3)), rule }
}
