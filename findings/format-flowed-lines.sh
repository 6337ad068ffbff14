#!/usr/bin/env bash
# postal-mime 4.0.0 and mailparser 3.14.2 join lines of format=flowed that RFC 3676 keeps apart.
#
# - Both join the signature separator "-- " with the line after it. RFC 3676, section 4.3, makes it a fixed line.
# - postal-mime joins a quoted line that ends in a space with an unquoted one, so that an answer becomes part of the
#   quotation. Section 4.5 ends a paragraph where the quote depth changes. mailparser keeps them apart.
#
# Output:
#   postal-mime signature: "Regards \n-- \nBob" → "Regards -- Bob"
#   mailparser signature: "Regards \n-- \nBob" → "Regards -- Bob"
#   postal-mime quotation: "> Shall we? \nYes." → "> Shall we? Yes."
#   mailparser quotation: "> Shall we? \nYes." → "> Shall we? \nYes."
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const mail = (body) =>
  `From: ada@a.example\r\nContent-Type: text/plain; format=flowed\r\n\r\n${body.replaceAll("\n", "\r\n")}\r\n`
const readers = {
  "postal-mime": async (raw) => (await PostalMime.parse(raw)).text.trimEnd(),
  mailparser: async (raw) => (await simpleParser(raw)).text.trimEnd()
}
const show = async (reader, name, body, expected) => {
  const text = await readers[reader](mail(body))
  console.log(`${reader} ${name}: ${JSON.stringify(body)} → ${JSON.stringify(text)}`)
  assert.equal(text, expected)
}
await show("postal-mime", "signature", "Regards \n-- \nBob", "Regards -- Bob")
await show("mailparser", "signature", "Regards \n-- \nBob", "Regards -- Bob")
await show("postal-mime", "quotation", "> Shall we? \nYes.", "> Shall we? Yes.")
await show("mailparser", "quotation", "> Shall we? \nYes.", "> Shall we? \nYes.")
PROGRAM
node run.mjs
