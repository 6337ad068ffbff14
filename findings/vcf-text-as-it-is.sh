#!/usr/bin/env bash
# vcf 2.1.2 neither escapes text when it writes a contact, nor removes escapes when it reads one.
#
# A comma, a semicolon, a backslash and a line break in text are written with a backslash (RFC 6350, section 3.4). The name
# "Smith, Bob" of another program is read as "Smith\, Bob". In a contact that the package writes, the path "C:\new" becomes two
# lines in another program, a line break is gone, and a family name with a comma becomes two. Callers have to escape and
# unescape.
#
# Output:
#   reads Smith\, Bob: "Smith\\, Bob"
#   reads one\ntwo: "one\\ntwo"
#   writes C:\new, which ical.js reads as: "C:\new"
#   writes one, a line break and two, which ical.js reads as: "onetwo"
#   writes Smith, III as a family name, which ical.js reads as: ["Smith"," III"]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund vcf@2.1.2 ical.js@2.2.1
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import assert from "node:assert/strict"
import Vcf from "vcf"

const show = (label, seen, expected) => {
  const text = JSON.stringify(seen)
  console.log(`${label}: ${text}`)
  assert.equal(text, expected)
}
const read = String.raw`BEGIN:VCARD|VERSION:4.0|FN:Smith\, Bob|NOTE:one\ntwo|END:VCARD|`.replaceAll("|", "\r\n")
const [card] = Vcf.parse(read)
show("reads Smith\\, Bob", card.get("fn").valueOf(), '"Smith\\\\, Bob"')
show("reads one\\ntwo", card.get("note").valueOf(), '"one\\\\ntwo"')
const written = new Vcf()
written.set("fn", "Smith, Bob")
written.set("n", "Smith, III;Bob;;;")
written.set("note", "C:\\new")
written.set("title", "one\ntwo")
const properties = ICAL.parse(written.toString("4.0"))[1]
const other = (name) => properties.find(([each]) => each === name)[3]
show('writes C:\\new, which ical.js reads as', other("note"), '"C:\\new"')
show("writes one, a line break and two, which ical.js reads as", other("title"), '"onetwo"')
show("writes Smith, III as a family name, which ical.js reads as", other("n")[0], '["Smith"," III"]')
PROGRAM
node run.mjs
