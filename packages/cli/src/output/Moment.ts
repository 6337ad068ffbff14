import { Failure } from "../failure/Failure.ts"

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** RFC 3339, section 5.6. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:\d{2})$/

/** The length of a span, as `20s` or `5m`, in milliseconds. */
export const millisOfSpan = (flag: string, text: string): number => {
  const span = /^(\d{1,6})([smhd])$/.exec(text)
  if (span !== null) return Number(span[1]) * UNITS[span[2]!]!
  throw new Failure({ code: "USAGE", message: `--${flag} takes a span, as 20s or 5m, not "${text}".` })
}

/** The moment that a flag names, as the API writes it: a span before now (`90s`, `10m`, `2h`, `3d`), `now`, or a date and time with its offset. */
export const momentOfFlag = (flag: string, text: string, now: number): string => {
  if (text === "now") return new Date(now).toISOString()
  const span = /^(\d{1,6})([smhd])$/.exec(text)
  if (span !== null) return new Date(Math.max(0, now - Number(span[1]) * UNITS[span[2]!]!)).toISOString()
  const millis = DATE_TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(millis)) return new Date(millis).toISOString()
  throw new Failure({
    code: "USAGE",
    message: `--${flag} takes a span before now, as 10m, 2h or 3d, or a moment with its offset, as 2026-01-31T12:00:00Z; not "${text}".`
  })
}
