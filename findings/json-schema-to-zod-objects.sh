#!/usr/bin/env bash
# zod 4.6.7 drops parts of a JSON Schema that name no type, and @composio/json-schema-to-zod 0.3.3 forbids fields that are not
# listed.
#
# Frameworks turn the JSON Schema of a tool into Zod. JSON Schema applies `required` and `properties` to each object, also in a part
# that has no `type`. z.fromJSONSchema throws for `not` and `if`, which it does not support, but reads such a part as anything, so
# "one of these two fields" has no effect. A schema without additionalProperties allows more fields, such as those that a newer
# server adds to an answer; @composio/json-schema-to-zod refuses them.
#
# Output:
#   anyOf of required fields, {}: JSON Schema invalid, zod valid, composio invalid
#   anyOf of required fields, {"to":"a"}: JSON Schema valid, zod valid, composio valid
#   required without type, {}: JSON Schema invalid, zod valid, composio invalid
#   a field that is not listed, {"to":"a","cc":"b"}: JSON Schema valid, zod valid, composio invalid
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ajv@8.17.1 zod@4.6.7
npm install --silent --no-audit --no-fund --prefix composio @composio/json-schema-to-zod@0.3.3 zod@3.25.76
cat >run.mjs <<'PROGRAM'
import Ajv from "ajv/dist/2020.js"
import assert from "node:assert/strict"
import { createRequire } from "node:module"
import { z } from "zod"

const { jsonSchemaToZod } = createRequire(`${process.cwd()}/composio/`)("@composio/json-schema-to-zod")
const ajv = new Ajv.default({ strict: false })
const show = (label, schema, value, ...expected) => {
  const isValid = [
    ajv.validate(schema, value),
    z.fromJSONSchema(schema).safeParse(value).success,
    jsonSchemaToZod(schema).safeParse(value).success
  ]
  const [first, second, third] = isValid.map((is) => (is ? "valid" : "invalid"))
  console.log(`${label}, ${JSON.stringify(value)}: JSON Schema ${first}, zod ${second}, composio ${third}`)
  assert.deepEqual(isValid, expected)
}
const text = { type: "string" }
const either = { type: "object", properties: { to: text, inReplyTo: text }, anyOf: [{ required: ["to"] }, { required: ["inReplyTo"] }] }
show("anyOf of required fields", either, {}, false, true, false)
show("anyOf of required fields", either, { to: "a" }, true, true, true)
show("required without type", { properties: { to: text }, required: ["to"] }, {}, false, true, false)
const open = { type: "object", properties: { to: text }, required: ["to"] }
show("a field that is not listed", open, { to: "a", cc: "b" }, true, true, false)
PROGRAM
node run.mjs
