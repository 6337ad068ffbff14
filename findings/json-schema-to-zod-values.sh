#!/usr/bin/env bash
# json-schema-to-zod 2.8.1 and @n8n/json-schema-to-zod 1.16.0 refuse every value for a constant object, and fields that a
# pattern allows.
#
# Servers of tools state the shape of arguments as JSON Schema. A const of an object or a list is compared by identity, which no
# parsed value has. patternProperties says what fields with some names have to be, and leaves the others free: the packages
# demand the same of all fields. An array of prefixItems accepts anything. Nothing is thrown when a schema is converted. zod
# 4.6.7 reads all but the constant object.
#
# Output:
#   {"const":{"a":1}}, {"a":1}: ajv valid, json-schema-to-zod invalid, n8n invalid
#   {"type":"object","patternProperties":{"^x-":{"type":"number"}}}, {"x-a":1}: ajv valid, json-schema-to-zod valid, n8n valid
#   {"type":"object","patternProperties":{"^x-":{"type":"number"}}}, {"x-a":1,"name":"Bob"}: ajv valid, json-schema-to-zod invalid, n8n invalid
#   {"type":"array","prefixItems":[{"type":"string"}]}, [1]: ajv invalid, json-schema-to-zod valid, n8n valid
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --legacy-peer-deps json-schema-to-zod@2.8.1 @n8n/json-schema-to-zod@1.16.0 zod@4.6.7 ajv@8.20.0
cat >run.mjs <<'PROGRAM'
import Ajv from "ajv/dist/2020.js"
import { jsonSchemaToZod } from "json-schema-to-zod"
import assert from "node:assert/strict"
import { createRequire } from "node:module"
import * as z from "zod"

// Node cannot import it: the paths of its modules have no extensions.
const n8n = createRequire(import.meta.url)("@n8n/json-schema-to-zod")
const ajv = new Ajv.default({ strict: false })
const validators = {
  ajv: (schema, value) => ajv.validate(schema, value),
  "json-schema-to-zod": (schema, value) => new Function("z", `return ${jsonSchemaToZod(schema)}`)(z).safeParse(value).success,
  n8n: (schema, value) => n8n.jsonSchemaToZod(schema).safeParse(value).success
}
const show = (schema, value, ...expected) => {
  const seen = Object.values(validators).map((validate) => (validate(schema, value) ? "valid" : "invalid"))
  const label = `${JSON.stringify(schema)}, ${JSON.stringify(value)}`
  console.log(`${label}: ${Object.keys(validators).map((name, at) => `${name} ${seen[at]}`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
show({ const: { a: 1 } }, { a: 1 }, "valid", "invalid", "invalid")
const pattern = { type: "object", patternProperties: { "^x-": { type: "number" } } }
show(pattern, { "x-a": 1 }, "valid", "valid", "valid")
show(pattern, { "x-a": 1, name: "Bob" }, "valid", "invalid", "invalid")
const list = { type: "array", prefixItems: [{ type: "string" }] }
show(list, [1], "invalid", "valid", "valid")
PROGRAM
node run.mjs
