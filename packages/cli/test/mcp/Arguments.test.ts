import { assert, describe, it } from "vitest"
import { argumentsOf } from "../../src/mcp/Arguments.ts"

const schema = {
  type: "object",
  properties: {
    to: { type: "array", items: { type: "string" } },
    subject: { type: "string" },
    limit: { type: "integer" },
    all: { type: "boolean" },
    note: { type: ["string", "null"] },
    html: { type: "string" }
  },
  required: ["to", "subject"]
}

describe("arguments of a tool", () => {
  it.each<[string, object, object]>([
    ["leaves out optional arguments that are null or empty", { html: null, limit: null, all: "" }, {}],
    ["keeps null where the schema has it", { note: null }, { note: null }],
    ["keeps required arguments, which the tool validates", { to: null, subject: "" }, { to: null, subject: "" }],
    [
      "parses lists, numbers and booleans in quotes",
      { to: '["a@b"]', limit: "5", all: "true" },
      { to: ["a@b"], limit: 5, all: true }
    ],
    ["keeps text that looks like another type", { subject: "[1]", html: "5" }, { subject: "[1]", html: "5" }],
    [
      "keeps values of another type",
      { to: '{"a":1}', limit: "many", all: "1" },
      { to: '{"a":1}', limit: "many", all: "1" }
    ],
    ["keeps unknown arguments, which the tool rejects", { other: null }, { other: null }]
  ])("%s", (_what, given, expected) => {
    assert.deepStrictEqual(argumentsOf({ ...given }, schema), expected)
  })
})
