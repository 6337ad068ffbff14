/** Nesting that a value may have: more than any document of this service has. */
const DEPTH_MAX = 16

/**
 * Returns the canonical JSON of a value (RFC 8785): members are sorted by name, so that equal values give equal texts in
 * whatever order they were written. Undefined if the value is not JSON, or is nested in more than 16 levels.
 */
export const encode = (value: unknown, depth = 0): string | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? JSON.stringify(value) : undefined
  if (value === null || typeof value === "string" || typeof value === "boolean") return JSON.stringify(value)
  if (typeof value !== "object" || depth === DEPTH_MAX) return undefined
  if (Array.isArray(value))
    return joined(
      "[",
      value.map((item) => encode(item, depth + 1)),
      "]"
    )
  const members = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => prefixed(`${JSON.stringify(name)}:`, encode(member, depth + 1)))
  return joined("{", members, "}")
}

const prefixed = (prefix: string, text: string | undefined): string | undefined =>
  text === undefined ? undefined : prefix + text

const joined = (open: string, parts: ReadonlyArray<string | undefined>, close: string): string | undefined =>
  parts.includes(undefined) ? undefined : open + parts.join(",") + close
