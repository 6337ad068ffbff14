import { Clock, Effect, Schema } from "effect"

/**
 * A point in time as whole milliseconds since the Unix epoch, UTC.
 *
 * Milliseconds are the finest unit stored anywhere: a database column with microseconds would order rows in a way that
 * no JavaScript client could reproduce.
 */
export const Timestamp = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).pipe(Schema.brand("Timestamp"))
export type Timestamp = typeof Timestamp.Type

/** Returns the current time of the Clock service. */
export const now: Effect.Effect<Timestamp> = Effect.map(Clock.currentTimeMillis, (millis) =>
  Timestamp.make(Math.floor(millis))
)

/** Returns the time `millis` later, or earlier when negative. */
export const add = (self: Timestamp, millis: number): Timestamp => Timestamp.make(self + millis)

/** A timestamp in API messages: ISO 8601 in UTC with milliseconds. */
export const IsoTimestamp = Schema.String.annotate({ format: "date-time" })

/** Formats a timestamp for API messages: ISO 8601 in UTC with milliseconds. */
export const toIso = (self: Timestamp): string => new Date(self).toISOString()

export const toIsoOrNull = (self: Timestamp | null): string | null => (self === null ? null : toIso(self))

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
