import { Schema } from "effect"
import { plainText } from "./PlainText.ts"

const CURSOR_LIMIT = 256

/** The page size of a list, as an input. */
export const limit = (limits: { readonly maximum: number; readonly default: number }) =>
  Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limits.maximum }))).annotateKey({
    description: "Maximum number of items to return.",
    default: limits.default,
    examples: [10]
  })

/** The position in a list, as an input. */
export const cursor = Schema.optionalKey(plainText(CURSOR_LIMIT)).annotateKey({
  description: "`nextCursor` of the previous page.",
  examples: ["4dVQZ1n0bF9xJ2kT7mR3c"]
})
