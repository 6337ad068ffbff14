import type { Json } from "./Mutation.ts"

/** Plays of smaller inputs for one finding. */
const ATTEMPTS = 150

/** Smaller values in the place of one, the smallest first. */
const smaller = (value: Json): ReadonlyArray<Json> => {
  if (typeof value === "string") {
    const half = Math.floor(value.length / 2)
    return value === ""
      ? []
      : [value.slice(0, half), value.slice(half), value.slice(1), value.slice(0, -1)].filter((text) => text !== value)
  }
  if (Array.isArray(value)) {
    const items = value as ReadonlyArray<Json>
    const half = Math.floor(items.length / 2)
    const halves = items.length > 1 ? [items.slice(0, half), items.slice(half)] : []
    const without = items.map((_, index) => items.filter((__, other) => other !== index))
    const inside = items.flatMap((item, index) =>
      smaller(item).map((less) => items.map((old, other) => (other === index ? less : old)))
    )
    return [...halves, ...without, ...inside]
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, item]) => smaller(item).map((less) => ({ ...value, [key]: less })))
  }
  return []
}

/** Returns the smallest input found that still breaks the promise; the input itself if that is not reproducible. */
export const shrink = async (input: Json, breaks: (input: Json) => Promise<boolean>): Promise<Json> => {
  if (!(await breaks(input))) return input
  let best = input
  let attempts = ATTEMPTS
  for (let found = true; found && attempts > 0;) {
    found = false
    for (const candidate of smaller(best)) {
      if (attempts-- <= 0) break
      if (await breaks(candidate)) {
        best = candidate
        found = true
        break
      }
    }
  }
  return best
}
