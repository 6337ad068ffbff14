#!/usr/bin/env bash
# mailparser 3.14.2 appends the machine-readable part of a delivery report to the text, and returns no attachment for it.
#
# The part message/delivery-status of a multipart/report (RFC 3464) can then not be told from the words of a person.
# postal-mime 4.0.0 returns it as an attachment and leaves the text alone.
#
# Output:
#   mailparser text: "Not delivered.\nReporting-MTA: dns; mx.b.example\n\nFinal-Recipient: rfc822; bob@b.example\nAction: failed"
#   mailparser attachments: []
#   postal-mime text: "Not delivered."
#   postal-mime attachments: ["message/delivery-status"]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const raw = [
  "From: postmaster@b.example",
  'Content-Type: multipart/report; report-type=delivery-status; boundary="x"',
  "",
  "--x",
  "",
  "Not delivered.",
  "--x",
  "Content-Type: message/delivery-status",
  "",
  "Reporting-MTA: dns; mx.b.example",
  "",
  "Final-Recipient: rfc822; bob@b.example",
  "Action: failed",
  "--x--",
  ""
].join("\r\n")
const show = (name, value, expected) => {
  console.log(`${name}: ${JSON.stringify(value)}`)
  assert.deepEqual(value, expected)
}
const parsed = await simpleParser(raw)
show(
  "mailparser text",
  parsed.text.trimEnd(),
  "Not delivered.\nReporting-MTA: dns; mx.b.example\n\nFinal-Recipient: rfc822; bob@b.example\nAction: failed"
)
show("mailparser attachments", parsed.attachments.map((part) => part.contentType), [])
const other = await PostalMime.parse(raw)
show("postal-mime text", other.text.trimEnd(), "Not delivered.")
show("postal-mime attachments", other.attachments.map((part) => part.mimeType), ["message/delivery-status"])
PROGRAM
node run.mjs
