#!/usr/bin/env bash
# vcard 0.1.0 cuts values of contacts at a colon, and vcard-parser 1.0.0 splits tel: URIs and joins contacts.
#
# vcard keeps what is before the second colon of a line: a tel: URI loses its number, and a note such as "Note: call" its text.
# vcard-parser splits the extension off a tel: URI, as if the URI were a structured value (RFC 6350, section 6.4.1 has
# ";ext=102" as its example), and makes one contact of a file with two, whose numbers then cannot be told apart.
#
# Output:
#   a number: vcard ["+12125552345"], vcard-parser ["+12125552345"], ical.js ["+12125552345"]
#   a URI: vcard ["tel"], vcard-parser [["tel:+1-212-555-2345","ext=102"]], ical.js ["tel:+1-212-555-2345;ext=102"]
#   two contacts, vcard-parser: one, with 2 numbers
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund vcard@0.1.0 vcard-parser@1.0.0 ical.js@2.2.1
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import assert from "node:assert/strict"
import Vcard from "vcard"
import parser from "vcard-parser"

// vcard writes what it reads to the console.
console.info = () => {}
const readers = {
  vcard: (text) => {
    let seen
    new Vcard().readData(text, (error, card) => (seen = error ?? card))
    return [seen.TEL?.value ?? seen.TEL ?? seen]
  },
  "vcard-parser": (text) => parser.parse(text).tel.map(({ value }) => value),
  "ical.js": (text) => {
    const cards = ICAL.parse(text)
    const list = Array.isArray(cards[0]) ? cards : [cards]
    return list.flatMap((card) => card[1].filter(([name]) => name === "tel").map((property) => property[3]))
  }
}
const card = (...lines) => ["BEGIN:VCARD", "VERSION:3.0", "N:Smith;Bob;;;", "FN:Bob", ...lines, "END:VCARD", ""].join("\r\n")
const show = (label, text, ...expected) => {
  const seen = Object.values(readers).map((read) => JSON.stringify(read(text)))
  console.log(`${label}: ${Object.keys(readers).map((name, at) => `${name} ${seen[at]}`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
const two = ["TEL;TYPE=CELL:+12125552345", "TEL;TYPE=WORK:+12125550100"]
show("a number", card(two[0]), '["+12125552345"]', '["+12125552345"]', '["+12125552345"]')
const uri = "tel:+1-212-555-2345;ext=102"
show("a URI", card(`TEL;VALUE=uri:${uri}`), '["tel"]', '[["tel:+1-212-555-2345","ext=102"]]', `["${uri}"]`)
const people = parser.parse(card(two[0]) + card(two[1]))
console.log(`two contacts, vcard-parser: ${Array.isArray(people) ? "two" : "one"}, with ${people.tel.length} numbers`)
assert.deepEqual([Array.isArray(people), people.tel.length], [false, 2])
PROGRAM
node run.mjs
