import { Clock, Effect, Schema } from "effect"

/**
 * A point in time as whole milliseconds since the Unix epoch, UTC.
 *
 * Milliseconds are the finest unit stored anywhere: a database column with microseconds would order rows in a way that
 * no JavaScript client could reproduce.
 */
export const Timestamp = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).pipe(Schema.brand("Timestamp"))
export type Timestamp = typeof Timestamp.Type

/**
 * Returns the timestamp of a number of milliseconds. Throws if that is not a whole number of at least 0. It takes a tenth of
 * the time of the schema: a page of 100 records has 300 timestamps.
 */
export const fromMillis = (millis: number): Timestamp => {
  if (!Number.isSafeInteger(millis) || millis < 0) throw new RangeError(`${millis} is not a timestamp in milliseconds`)
  return millis as Timestamp
}

/** Returns the current time of the Clock service. */
export const now: Effect.Effect<Timestamp> = Effect.map(Clock.currentTimeMillis, (millis) =>
  fromMillis(Math.floor(millis))
)

/** Returns the time `millis` later, or earlier when negative. */
export const add = (self: Timestamp, millis: number): Timestamp => fromMillis(self + millis)

/** Returns the whole seconds, at least 1, after which `until` has passed: a value of Retry-After. */
export const secondsUntil = (until: Timestamp, now: Timestamp): number => Math.max(1, Math.ceil((until - now) / SECOND))

/** A timestamp in API messages: ISO 8601 in UTC with milliseconds. */
export const IsoTimestamp = Schema.String.annotate({ format: "date-time" })

/** Formatted dates without their time, with the days that they are of: the timestamps of a page have few. */
const DATES = 64
const days = new Float64Array(DATES).fill(Number.NaN)
const dates: Array<string> = Array.from({ length: DATES }, () => "")

const dateOf = (day: number): string => {
  const slot = day & (DATES - 1)
  if (days[slot] !== day) {
    dates[slot] = new Date(day * DAY).toISOString().slice(0, -"00:00:00.000Z".length)
    days[slot] = day
  }
  return dates[slot]!
}

const padded = (count: number, digits: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, value) => value.toString().padStart(digits, "0"))
const TWO_DIGITS = padded(60, 2)
const THREE_DIGITS = padded(1_000, 3)

/** Formats a timestamp for API messages: ISO 8601 in UTC with milliseconds. */
export const toIso = (self: Timestamp): string => {
  const day = Math.floor(self / DAY)
  const millis = self - day * DAY
  const seconds = Math.floor(millis / SECOND)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const time = `${TWO_DIGITS[hours]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`
  return `${dateOf(day)}${time}.${THREE_DIGITS[millis % SECOND]}Z`
}

export const toIsoOrNull = (self: Timestamp | null): string | null => (self === null ? null : toIso(self))

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
