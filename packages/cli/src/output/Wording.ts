const UNIT = 1_000_000n

/** Base units of a millionth as a decimal text with at least two decimals, as the API writes prices: `0.25`. */
export const decimalOf = (baseUnits: bigint): string => {
  const fraction = (baseUnits % UNIT)
    .toString()
    .padStart(6, "0")
    .replace(/0{1,4}$/, "")
  return `${baseUnits / UNIT}.${fraction}`
}

/** The base units that a decimal text names; undefined where it is none, or finer than a millionth. */
export const baseUnitsOf = (text: string): bigint | undefined => {
  const match = /^(\d{1,30})(?:\.(\d{1,6}))?$/.exec(text)
  return match === null ? undefined : BigInt(match[1]!) * UNIT + BigInt((match[2] ?? "").padEnd(6, "0"))
}

const SPANS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1]
] as const

/** A number of seconds in its two largest units: `29 d 23 h`. */
export const spanOf = (seconds: number): string => {
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

/** A moment as people read it, in UTC like everything the service says: `2026-01-31 12:00:00Z`. */
export const momentOf = (iso: string | null | undefined): string | null =>
  iso === null || iso === undefined ? null : iso.replace("T", " ").replace(/\.\d+Z$/, "Z")

/** A count with its noun. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
