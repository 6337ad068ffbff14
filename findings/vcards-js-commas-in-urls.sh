#!/usr/bin/env bash
# vcards-js 2.11.1 and vcard-generator 0.0.7 write backslashes into URLs of contacts, so that other programs open other pages.
#
# The value of URL is a URI, in which a comma and a semicolon have no escape (RFC 2426, section 3.6.8; RFC 6350, section 6.7.8).
# Both escape them as in text. A link to a map, whose coordinates have a comma, then leads to another place.
#
# Output:
#   vcards-js writes URL:https://a.example/map?at=40.7\,-74.0;zoom=3
#     at, by ical.js: 40.7\,-74.0;zoom=3
#   vcard-generator writes URL:https://a.example/map?at=40.7\,-74.0\;zoom=3
#     at, by ical.js: 40.7,-74.0\;zoom=3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund vcards-js@2.11.1 vcard-generator@0.0.7 ical.js@2.2.1
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import assert from "node:assert/strict"
import generator from "vcard-generator"
import vcardsJs from "vcards-js"

const { generate } = generator.default ?? generator
const url = "https://a.example/map?at=40.7,-74.0;zoom=3"
const card = vcardsJs()
card.firstName = "Bob"
card.url = url
const writers = {
  "vcards-js": card.getFormattedString(),
  "vcard-generator": generate({ name: { familyName: "Smith" }, formattedNames: [{ text: "Bob" }], urls: [{ uri: url }] })
}
const expected = {
  "vcards-js": String.raw`URL:https://a.example/map?at=40.7\,-74.0;zoom=3`,
  "vcard-generator": String.raw`URL:https://a.example/map?at=40.7\,-74.0\;zoom=3`
}
for (const [name, text] of Object.entries(writers)) {
  const line = text.match(/^URL.*$/m)[0].trim()
  console.log(`${name} writes ${line}`)
  assert.equal(line, expected[name])
  const own = new URL(ICAL.parse(text)[1].find(([each]) => each === "url")[3]).searchParams.get("at")
  console.log(`  at, by ical.js: ${own}`)
}
PROGRAM
node run.mjs
