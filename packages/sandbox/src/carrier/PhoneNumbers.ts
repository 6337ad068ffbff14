export type Country = "US" | "CA"

/** An area code of the North American plan, with the town to which its numbers are attributed. */
export interface AreaCode {
  readonly code: string
  readonly country: Country
  /** The two-letter code of the state or province. */
  readonly region: string
  readonly locality: string
  /** In degrees. */
  readonly latitude: number
  readonly longitude: number
}

const area = (
  country: Country,
  code: string,
  region: string,
  locality: string,
  latitude: number,
  longitude: number
): AreaCode => ({ code, country, region, locality, latitude, longitude })

/** The area codes in which the carrier has numbers. */
export const areaCodes: ReadonlyArray<AreaCode> = [
  area("US", "201", "NJ", "Jersey City", 40.73, -74.08),
  area("US", "202", "DC", "Washington", 38.91, -77.04),
  area("US", "206", "WA", "Seattle", 47.61, -122.33),
  area("US", "212", "NY", "New York", 40.71, -74.01),
  area("US", "213", "CA", "Los Angeles", 34.05, -118.24),
  area("US", "214", "TX", "Dallas", 32.78, -96.8),
  area("US", "215", "PA", "Philadelphia", 39.95, -75.17),
  area("US", "303", "CO", "Denver", 39.74, -104.98),
  area("US", "305", "FL", "Miami", 25.76, -80.19),
  area("US", "312", "IL", "Chicago", 41.88, -87.63),
  area("US", "313", "MI", "Detroit", 42.33, -83.05),
  area("US", "404", "GA", "Atlanta", 33.75, -84.39),
  area("US", "408", "CA", "San Jose", 37.34, -121.89),
  area("US", "415", "CA", "San Francisco", 37.77, -122.42),
  area("US", "425", "WA", "Bellevue", 47.61, -122.2),
  area("US", "503", "OR", "Portland", 45.52, -122.68),
  area("US", "504", "LA", "New Orleans", 29.95, -90.07),
  area("US", "510", "CA", "Oakland", 37.8, -122.27),
  area("US", "512", "TX", "Austin", 30.27, -97.74),
  area("US", "602", "AZ", "Phoenix", 33.45, -112.07),
  area("US", "612", "MN", "Minneapolis", 44.98, -93.27),
  area("US", "617", "MA", "Boston", 42.36, -71.06),
  area("US", "619", "CA", "San Diego", 32.72, -117.16),
  area("US", "646", "NY", "New York", 40.71, -74.01),
  area("US", "650", "CA", "San Mateo", 37.56, -122.33),
  area("US", "702", "NV", "Las Vegas", 36.17, -115.14),
  area("US", "713", "TX", "Houston", 29.76, -95.37),
  area("US", "801", "UT", "Salt Lake City", 40.76, -111.89),
  area("US", "808", "HI", "Honolulu", 21.31, -157.86),
  area("US", "907", "AK", "Anchorage", 61.22, -149.9),
  area("CA", "204", "MB", "Winnipeg", 49.9, -97.14),
  area("CA", "250", "BC", "Victoria", 48.43, -123.37),
  area("CA", "306", "SK", "Regina", 50.45, -104.62),
  area("CA", "403", "AB", "Calgary", 51.05, -114.07),
  area("CA", "416", "ON", "Toronto", 43.65, -79.38),
  area("CA", "418", "QC", "Quebec City", 46.81, -71.21),
  area("CA", "506", "NB", "Fredericton", 45.96, -66.64),
  area("CA", "514", "QC", "Montreal", 45.5, -73.57),
  area("CA", "604", "BC", "Vancouver", 49.28, -123.12),
  area("CA", "613", "ON", "Ottawa", 45.42, -75.7),
  area("CA", "647", "ON", "Toronto", 43.65, -79.38),
  area("CA", "709", "NL", "St. John's", 47.56, -52.71),
  area("CA", "778", "BC", "Vancouver", 49.28, -123.12),
  area("CA", "780", "AB", "Edmonton", 53.55, -113.49),
  area("CA", "867", "YT", "Whitehorse", 60.72, -135.06),
  area("CA", "902", "NS", "Halifax", 44.65, -63.58),
  area("CA", "905", "ON", "Mississauga", 43.59, -79.64)
]

const areasByCode = new Map(areaCodes.map((area) => [area.code, area]))

export const areaOf = (code: string): AreaCode | undefined => areasByCode.get(code)

const earthRadiusMiles = 3_958.8
const radians = (degrees: number): number => (degrees * Math.PI) / 180

export type Coordinates = Pick<AreaCode, "latitude" | "longitude">

/** Returns the great-circle distance. */
export const milesBetween = (one: Coordinates, other: Coordinates): number => {
  const latitude = radians(other.latitude - one.latitude)
  const longitude = radians(other.longitude - one.longitude)
  const chord =
    Math.sin(latitude / 2) ** 2 +
    Math.cos(radians(one.latitude)) * Math.cos(radians(other.latitude)) * Math.sin(longitude / 2) ** 2
  return 2 * earthRadiusMiles * Math.asin(Math.sqrt(chord))
}

/**
 * The North American plan reserves 555-0100 to 555-0199 of every area code for fiction. The first half of each range is
 * for sale in the sandbox, the second half belongs to simulated people.
 */
const forSale = /^\+1([2-9]\d\d)55501[0-4]\d$/
const person = /^\+1[2-9]\d\d55501[5-9]\d$/
/** The range that the British regulator reserves for drama: people abroad. */
const personAbroad = /^\+447700900\d{3}$/

const e164 = /^\+[1-9]\d{6,14}$/

export const isE164 = (number: string): boolean => e164.test(number)

/** Returns whether a number belongs to a simulated person. */
export const isPersonNumber = (number: string): boolean => person.test(number) || personAbroad.test(number)

export const areaCodeForSale = (number: string): string | undefined => forSale.exec(number)?.[1]

/** Formats a North American number as (415) 555-0100. Returns other numbers unchanged. */
export const nationalFormat = (number: string): string => number.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, "($1) $2-$3")

/** A number that can be bought. */
export interface AvailableNumber {
  readonly phoneNumber: string
  readonly area: AreaCode
}

const numbersPerArea = 50

/**
 * Returns the numbers for sale in a country, without the owned ones. Areas alternate, so that a short list contains many
 * of them.
 */
export const availableNumbers = (
  country: Country,
  matches: (area: AreaCode) => boolean,
  owned: ReadonlySet<string>
): ReadonlyArray<AvailableNumber> => {
  const areas = areaCodes.filter((area) => area.country === country && matches(area))
  return Array.from({ length: numbersPerArea }, (_, line) =>
    areas.map((area) => ({ phoneNumber: `+1${area.code}55501${String(line).padStart(2, "0")}`, area }))
  )
    .flat()
    .filter(({ phoneNumber }) => !owned.has(phoneNumber))
}

/** Returns whether a number is in the inventory, owned or not. */
export const isInInventory = (number: string): boolean => {
  const code = areaCodeForSale(number)
  return code !== undefined && areaOf(code) !== undefined
}
