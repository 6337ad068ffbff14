import type { FlagSpec } from "./Command.ts"

/** How much of a list. Pages are fetched until there is as much. */
export const LIMIT_FLAG = {
  name: "limit",
  type: "integer",
  value: "N",
  summary: "How many at most.",
  default: 50,
  minimum: 1,
  maximum: 10_000
} as const satisfies FlagSpec

export const CURSOR_FLAG = {
  name: "cursor",
  type: "text",
  value: "CURSOR",
  summary: "Go on where a list ended: its nextCursor."
} as const satisfies FlagSpec
