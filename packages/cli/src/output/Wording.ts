import { type Column, type TimeRange, usageError } from "@agentos/node/command-line"

/** Formats a count with its noun: `2 payments`. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

const SPANS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1]
] as const

/** Formats seconds in the two largest units: `29 d 23 h`. */
export const durationOf = (seconds: number): string => {
  const first = SPANS.findIndex(([, size]) => seconds >= size)
  if (first < 0) return "0 s"
  let rest = seconds
  return SPANS.slice(first, first + 2)
    .map(([unit, size]) => {
      const count = Math.floor(rest / size)
      rest -= count * size
      return [count, unit] as const
    })
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ")
}

/** Formats an ISO time for people, in UTC: `2026-01-31 12:00:00Z`. */
export const timeOf = (iso: string | null | undefined): string | null =>
  iso === null || iso === undefined ? null : iso.replace("T", " ").replace(/\.\d+Z$/, "Z")

/** The same without seconds, for tables whose heading says that times are in UTC: `2026-01-31 12:00`. */
export const minuteOf = (iso: string | null | undefined): string | null => timeOf(iso)?.slice(0, 16) ?? null

/** Names the caller of a call, also one who withheld the number: `withheld (anonymous)`. */
export const callerOf = (number: string | null, withheld: string | null): string =>
  number ?? `withheld (${withheld ?? "unknown"})`

/** Tells with whom a call is: `from +12025550123, completed`. */
export const callPartner = (call: {
  readonly direction: string
  readonly fromNumber: string | null
  readonly fromWithheld: string | null
  readonly toNumber: string
  readonly status: string
}): string => {
  const partner =
    call.direction === "inbound" ? `from ${callerOf(call.fromNumber, call.fromWithheld)}` : `to ${call.toNumber}`
  return `${partner}, ${call.status}`
}

/** Shortens an address or a hash of a chain for a table: `0x779D…3736`. */
export const shortAddress = (text: string): string =>
  /^0x[\da-fA-F]{40,}$/.test(text) ? `${text.slice(0, 6)}…${text.slice(-4)}` : text

/** A column of times: programs get seconds, a terminal minutes. */
export const timeColumn = <Row>(
  heading: string,
  of: (row: Row) => string | null | undefined,
  drop?: number
): Column<Row> => ({
  heading: `${heading} (UTC)`,
  value: (row) => timeOf(of(row)),
  shown: (row) => minuteOf(of(row)),
  whole: true,
  ...(drop === undefined ? {} : { drop })
})

const UNIT_MILLIS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** RFC 3339, section 5.6. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:\d{2})$/

const parseDuration = (text: string): number | undefined => {
  const match = /^(\d{1,6})([smhd])$/.exec(text)
  return match === null ? undefined : Number(match[1]) * UNIT_MILLIS[match[2]!]!
}

/** Parses the duration that a flag takes (`20s`, `5m`) into milliseconds. */
export const durationOfFlag = (flag: string, text: string): number => {
  const millis = parseDuration(text)
  if (millis !== undefined) return millis
  throw usageError(`--${flag} takes a duration such as 20s or 5m, not "${text}".`)
}

/** Parses --since and --until. */
export const timeRangeOf = (flags: TimeRange, now: number): TimeRange => {
  const since = flags.since === undefined ? undefined : timeOfFlag("since", flags.since, now)
  const until = flags.until === undefined ? undefined : timeOfFlag("until", flags.until, now)
  if (since !== undefined && until !== undefined && since >= until)
    throw usageError("--since must be earlier than --until.")
  return { since, until }
}

/** The values of a flag that takes a time, in its summary. */
export const TIME = "a duration ago (10m, 2h, 3d) or a time with an offset"

/** Parses the time that a flag takes: a duration from now (`10m`, `2h`, `3d`), or an RFC 3339 time. */
export const laterOfFlag = (flag: string, text: string, now: number): string => {
  const duration = parseDuration(text)
  const millis = duration === undefined ? (DATE_TIME.test(text) ? Date.parse(text) : Number.NaN) : now + duration
  if (!Number.isNaN(millis)) return new Date(millis).toISOString()
  throw usageError(
    `--${flag} takes a duration from now (10m, 2h, 3d) or a time with an offset (2026-01-31T12:00:00Z), not "${text}".`
  )
}

/** Parses the time that a flag takes: a duration before now (`10m`, `2h`, `3d`), `now`, or an RFC 3339 time. */
export const timeOfFlag = (flag: string, text: string, now: number): string => {
  if (text === "now") return new Date(now).toISOString()
  const duration = parseDuration(text)
  if (duration !== undefined) return new Date(Math.max(0, now - duration)).toISOString()
  const millis = DATE_TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(millis)) return new Date(millis).toISOString()
  throw usageError(
    `--${flag} takes a duration before now (10m, 2h, 3d) or a time with an offset (2026-01-31T12:00:00Z), not "${text}".`
  )
}
