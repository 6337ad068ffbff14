export type Country = "US" | "CA"

/** An area of the North American plan, and the town that its numbers are said to be from. */
export interface AreaCode {
  readonly code: string
  readonly country: Country
  /** Two letters: the state or the province. */
  readonly region: string
  readonly locality: string
  /** Degrees. */
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

/** Every area code in which the carrier has numbers. */
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

const byCode = new Map(areaCodes.map((listed) => [listed.code, listed]))

export const areaOf = (code: string): AreaCode | undefined => byCode.get(code)

const earthMiles = 3_958.8
const radians = (degrees: number): number => (degrees * Math.PI) / 180

type Place = Pick<AreaCode, "latitude" | "longitude">

/** Miles between two places, over the surface of a ball. */
export const milesBetween = (one: Place, other: Place): number => {
  const latitude = radians(other.latitude - one.latitude)
  const longitude = radians(other.longitude - one.longitude)
  const chord =
    Math.sin(latitude / 2) ** 2 +
    Math.cos(radians(one.latitude)) * Math.cos(radians(other.latitude)) * Math.sin(longitude / 2) ** 2
  return 2 * earthMiles * Math.asin(Math.sqrt(chord))
}
