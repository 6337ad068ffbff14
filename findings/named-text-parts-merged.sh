#!/usr/bin/env bash
# postal-mime 4.0.0 and mailparser 3.14.2 merge a text file that is sent "inline" into the body, and return no attachment.
#
# Apple's Mail sends text files so: Content-Disposition: inline with a filename. A filename alone, in the parameter `name` of
# Content-Type, has the same effect. The name of the file is lost, and its lines read as if the sender had written them.
#
# Output, of both:
#   inline with filename: text "See the file.|pin = 4711", attachments []
#   name alone: text "See the file.|pin = 4711", attachments []
#   attachment: text "See the file.", attachments ["setup.txt"]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const mail = (...fields) =>
  [
    "From: ada@a.example",
    'Content-Type: multipart/mixed; boundary="x"',
    "",
    "--x",
    "",
    "See the file.",
    "--x",
    ...fields,
    "",
    "pin = 4711",
    "--x--",
    ""
  ].join("\r\n")
const readers = { "postal-mime": (raw) => PostalMime.parse(raw), mailparser: (raw) => simpleParser(raw) }
const show = async (name, raw, expected) => {
  for (const [reader, parse] of Object.entries(readers)) {
    const { attachments, text } = await parse(raw)
    const lines = text.trim().replace(/\n+/g, "|")
    const names = attachments.map(({ filename }) => filename)
    console.log(`${reader}, ${name}: text ${JSON.stringify(lines)}, attachments ${JSON.stringify(names)}`)
    assert.deepEqual([lines, names], expected)
  }
}
const type = "Content-Type: text/plain"
const merged = ["See the file.|pin = 4711", []]
await show("inline with filename", mail(type, 'Content-Disposition: inline; filename="setup.txt"'), merged)
await show("name alone", mail(`${type}; name="setup.txt"`), merged)
await show("attachment", mail(type, 'Content-Disposition: attachment; filename="setup.txt"'), ["See the file.", ["setup.txt"]])
PROGRAM
node run.mjs
