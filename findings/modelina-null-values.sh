#!/usr/bin/env bash
# @asyncapi/modelina 5.10.1 generates TypeScript classes that cannot read or write null in objects and lists, where it is allowed.
#
# A schema of type ["object", "null"] or ["array", "null"] is common for optional parts of events. The generated unmarshal reads
# the members of null, and marshal iterates over it; the properties themselves have the type "| null". null in oneOf and in text
# passes. A consumer of events stops at the first one without the part. Leave such fields out, or write oneOf with null.
#
# Output:
#   {"id":"1","subject":null}: {"id": "1","subject": null}
#   {"id":"1","party":{"name":"Ada"}}: {"id": "1","party": {"name": "Ada"}}
#   {"id":"1","party":null}: TypeError: Cannot read properties of null (reading 'name')
#   {"id":"1","labels":null}: TypeError: this.labels is not iterable
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @asyncapi/modelina@5.10.1
cat >generate.mjs <<'PROGRAM'
import modelina from "@asyncapi/modelina"
import { writeFileSync } from "node:fs"

const text = { type: "string" }
const party = { $id: "Party", type: ["object", "null"], additionalProperties: false, properties: { name: text } }
const labels = { type: ["array", "null"], items: text }
const schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  $id: "MailEvent",
  type: "object",
  additionalProperties: false,
  required: ["id"],
  properties: { id: text, subject: { type: ["string", "null"] }, party, labels }
}
const presets = [{ preset: modelina.TS_COMMON_PRESET, options: { marshalling: true } }]
const models = await new modelina.TypeScriptGenerator({ modelType: "class", presets }).generate(schema)
writeFileSync("events.mts", `${models.map(({ result }) => result).join("\n")}\nexport { MailEvent }\n`)
PROGRAM
cat >run.mts <<'PROGRAM'
import assert from "node:assert/strict"
import { MailEvent } from "./events.mts"

const show = (event, expected) => {
  const read = JSON.stringify(event)
  let seen
  try {
    seen = MailEvent.unmarshal(read).marshal()
  } catch (error) {
    seen = String(error)
  }
  console.log(`${read}: ${seen}`)
  assert.equal(seen, expected)
}
show({ id: "1", subject: null }, '{"id": "1","subject": null}')
show({ id: "1", party: { name: "Ada" } }, '{"id": "1","party": {"name": "Ada"}}')
show({ id: "1", party: null }, "TypeError: Cannot read properties of null (reading 'name')")
show({ id: "1", labels: null }, "TypeError: this.labels is not iterable")
PROGRAM
node generate.mjs
node --experimental-transform-types --disable-warning=ExperimentalWarning run.mts
