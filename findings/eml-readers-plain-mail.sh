#!/usr/bin/env bash
# eml-format 0.6.1 and eml-parse-js 1.1.15 find no text in a mail without MIME fields, and change folded fields.
#
# A mail without Content-Type is plain text (RFC 2045, section 5.2): scripts, devices and bounces send such mail. Both return its
# text as an attachment without a name. Where a field is folded, a line break goes and the white space stays (RFC 5322, section
# 2.2.3). eml-format keeps the break and removes the space, and reads no address after it; eml-parse-js removes both from the
# subject. In a multipart, the last part that eml-format does not decode gets the closing boundary as its last line.
#
# Output:
#   eml-format: text undefined, attachments ["Hello\r\n"], subject "one\r\ntwo", to ["bob@b.example","Al <al@b.example>"]
#   eml-parse-js: text undefined, attachments ["Hello\r\n"], subject "onetwo", to ["bob@b.example","al@b.example"]
#   postal-mime: text "Hello\n", attachments [], subject "one two", to ["bob@b.example","al@b.example"]
#   eml-format, last part: "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n--b--\r\n"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund eml-format@0.6.1 eml-parse-js@1.1.15 postal-mime@4.0.0
cat >run.mjs <<'PROGRAM'
import eml from "eml-format"
import { readEml } from "eml-parse-js"
import assert from "node:assert/strict"
import PostalMime from "postal-mime"

console.warn = () => {}
const byEmlFormat = (raw) => new Promise((resolve, reject) => eml.read(raw, (error, mail) => (error ? reject(error) : resolve(mail))))
const readers = { "eml-format": byEmlFormat, "eml-parse-js": readEml, "postal-mime": (raw) => PostalMime.parse(raw) }
const plain = "From: ada@a.example\r\nTo: bob@b.example,\r\n Al <al@b.example>\r\nSubject: one\r\n two\r\n\r\nHello\r\n"
const show = async (name, expected) => {
  const { attachments = [], subject, text, to } = await readers[name](plain)
  const seen = [text, attachments.map(({ data }) => data), subject, to.map(({ address, email }) => address ?? email)]
  const [first, second, third, fourth] = seen.map((value) => JSON.stringify(value))
  console.log(`${name}: text ${first}, attachments ${second}, subject ${third}, to ${fourth}`)
  assert.deepEqual(seen, expected)
}
await show("eml-format", [undefined, ["Hello\r\n"], "one\r\ntwo", ["bob@b.example", "Al <al@b.example>"]])
await show("eml-parse-js", [undefined, ["Hello\r\n"], "onetwo", ["bob@b.example", "al@b.example"]])
await show("postal-mime", ["Hello\n", [], "one two", ["bob@b.example", "al@b.example"]])

const parts = "--b\r\nContent-Type: text/plain\r\n\r\nHi\r\n--b\r\nContent-Type: text/calendar\r\n\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n--b--\r\n"
const { attachments } = await byEmlFormat(`From: ada@a.example\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n${parts}`)
console.log(`eml-format, last part: ${JSON.stringify(attachments[0].data)}`)
assert.equal(attachments[0].data, "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n--b--\r\n")
PROGRAM
node run.mjs
