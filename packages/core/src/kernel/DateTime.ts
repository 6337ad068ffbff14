import { Schema, SchemaGetter } from "effect"
import * as Timestamp from "./Timestamp.ts"

const DATE_LENGTH = "2026-01-31".length

/** RFC 3339, section 5.6, in the profile that JSON Schema calls `date-time`. */
const PATTERN = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/

/** `Date.parse` accepts February 30 as March 2. */
const isOnCalendar = (date: string): boolean => new Date(Date.parse(date)).toISOString().startsWith(date)

const isDateTime = (text: string): boolean =>
  PATTERN.test(text) && !Number.isNaN(Date.parse(text)) && isOnCalendar(text.slice(0, DATE_LENGTH))

const DateTimeText = Schema.String.check(
  Schema.makeFilter(
    (text: string) => isDateTime(text) || "must be a date and time with an offset, for example 2026-01-31T12:00:00Z",
    {
      toJsonSchema: () => ({ type: "string", format: "date-time" })
    }
  )
)

/**
 * A date and time with its offset from UTC, in a request. Digits beyond the millisecond are dropped. Moments before
 * 1970 are read as the start of 1970.
 */
export const DateTime = DateTimeText.pipe(
  Schema.decodeTo(Timestamp.Timestamp, {
    decode: SchemaGetter.transform((text: string) => Math.max(0, Date.parse(text))),
    encode: SchemaGetter.transform((moment: number) => new Date(moment).toISOString())
  })
)
