import { Schema } from "effect"

/** A text of at most `limit` characters that every store can hold: well-formed, without the NUL character. */
export const plainText = (limit: number) =>
  Schema.String.check(
    Schema.isMaxLength(limit),
    Schema.makeFilter((text: string) => !text.includes("\u0000") || "the NUL character is not allowed"),
    Schema.makeFilter((text: string) => text.isWellFormed() || "not well-formed Unicode")
  )
