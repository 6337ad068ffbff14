import { Schema } from "effect"

/** The position of the next page of a list. */
export const nextCursor = Schema.NullOr(Schema.String).annotateKey({
  description: "Pass it as `cursor` to read on; null on the last page."
})
