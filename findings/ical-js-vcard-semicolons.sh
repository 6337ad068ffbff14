#!/usr/bin/env bash
# ical.js 2.2.1 reads the backslash of an escaped semicolon as a part of notes of contacts, and saves it as such.
#
# Programs may write a semicolon as "\;" in any text (RFC 6350, section 4), as vcard-generator 0.0.7 does. The package removes
# the backslash in names and addresses, and in calendars, but not in notes and titles. People see it, and a program that reads a
# contact and saves it makes it a part of the text for all others.
#
# Output:
#   family name: Smith; Co
#   written by vcard-generator: call Bob\; pay Al
#   read by ical.js: call Bob\; pay Al
#   read by vcard4-ts: call Bob; pay Al
#   saved by ical.js, read by vcard4-ts: call Bob\; pay Al
#   summary of an event: call Bob; pay Al
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ical.js@2.2.1 vcard-generator@0.0.7 vcard4-ts@0.4.1
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import assert from "node:assert/strict"
import generator from "vcard-generator"
import { parseVCards } from "vcard4-ts"

const { generate } = generator.default ?? generator
const show = (label, seen, expected) => {
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
let card = generate({ name: { familyName: "Smith; Co" }, formattedNames: [{ text: "Bob" }], notes: [{ text: "call Bob; pay Al" }] })
const textOf = (name) => ICAL.parse(card)[1].find(([each]) => each === name)[3]
show("family name", textOf("n")[0], "Smith; Co")
show("written by vcard-generator", card.match(/NOTE:(.*)/)[1].trim(), String.raw`call Bob\; pay Al`)
show("read by ical.js", textOf("note"), String.raw`call Bob\; pay Al`)
const other = () => parseVCards(card).vCards[0].NOTE[0].value
show("read by vcard4-ts", other(), "call Bob; pay Al")
card = ICAL.stringify(ICAL.parse(card))
show("saved by ical.js, read by vcard4-ts", other(), String.raw`call Bob\; pay Al`)
const event = ICAL.parse(["BEGIN:VEVENT", String.raw`SUMMARY:call Bob\; pay Al`, "END:VEVENT", ""].join("\r\n"))
show("summary of an event", event[1][0][3], "call Bob; pay Al")
PROGRAM
node run.mjs
