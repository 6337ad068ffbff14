import { type AreaCode, areaCodes, areaOf, type Country } from "./AreaCode.ts"
import { areaCodeForSale } from "./Telephone.ts"

/** A number that can be bought. */
export interface OfferedNumber {
  readonly phoneNumber: string
  readonly area: AreaCode
}

const numbersPerArea = 50

/**
 * What is for sale in a country, without what is owned: line by line through all areas that are wanted, so that a
 * list of a few shows many areas.
 */
export const offeredNumbers = (
  country: Country,
  wanted: (area: AreaCode) => boolean,
  owned: ReadonlySet<string>
): ReadonlyArray<OfferedNumber> => {
  const areas = areaCodes.filter((area) => area.country === country && wanted(area))
  return Array.from({ length: numbersPerArea }, (_, line) =>
    areas.map((area) => ({ phoneNumber: `+1${area.code}55501${String(line).padStart(2, "0")}`, area }))
  )
    .flat()
    .filter(({ phoneNumber }) => !owned.has(phoneNumber))
}

/** Whether a number is of the inventory, owned or not. */
export const isInInventory = (number: string): boolean => {
  const code = areaCodeForSale(number)
  return code !== undefined && areaOf(code) !== undefined
}
