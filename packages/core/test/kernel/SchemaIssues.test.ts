import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { issuesOf, maxEntries } from "../../src/kernel/SchemaIssues.ts"

const Input = Schema.Struct({
  name: Schema.String.check(Schema.isMaxLength(3)),
  tags: Schema.Array(Schema.String).check(maxEntries(2))
})

const issues = (input: unknown) => {
  const decoded = Schema.decodeUnknownResult(Input, { errors: "all" })(input)
  return decoded._tag === "Failure" ? issuesOf(decoded.failure.issue) : []
}

describe("issuesOf", () => {
  it("counts the characters of a text, and the items of a list", () => {
    assert.deepStrictEqual(issues({ name: "Ada Lovelace", tags: ["a", "b", "c"] }), [
      { path: "name", message: "must have at most 3 characters" },
      { path: "tags", message: "must have at most 2 items" }
    ])
  })
})
