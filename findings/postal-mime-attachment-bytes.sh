#!/usr/bin/env bash
# postal-mime 4.0.0 changes the bytes of attachments that are not encoded as base64.
#
# In a part of 7bit, 8bit or quoted-printable encoding it turns CRLF into LF and adds a line feed at the end, although the
# last CRLF belongs to the boundary (RFC 2046, section 5.1.1). So the size and the hash of the file differ from the sender's.
# mailparser 3.14.2 keeps the bytes.
#
# Output:
#   7bit "a,b\r\n1,2": postal-mime "a,b\n1,2\n", mailparser "a,b\r\n1,2"
#   quoted-printable "a,b\r\n1,2": postal-mime "a,b\n1,2\n", mailparser "a,b\r\n1,2"
#   base64 "a,b\r\n1,2": postal-mime "a,b\r\n1,2", mailparser "a,b\r\n1,2"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const file = "a,b\r\n1,2"
const mail = (encoding, body) =>
  [
    "From: ada@a.example",
    'Content-Type: multipart/mixed; boundary="x"',
    "",
    "--x",
    "",
    "See the file.",
    "--x",
    "Content-Type: text/csv",
    'Content-Disposition: attachment; filename="a.csv"',
    `Content-Transfer-Encoding: ${encoding}`,
    "",
    body,
    "--x--",
    ""
  ].join("\r\n")
const show = async (encoding, body, expected) => {
  const raw = mail(encoding, body)
  const read = Buffer.from((await PostalMime.parse(raw)).attachments[0].content).toString()
  const other = (await simpleParser(raw)).attachments[0].content.toString()
  const [sent, first, second] = [file, read, other].map((text) => JSON.stringify(text))
  console.log(`${encoding} ${sent}: postal-mime ${first}, mailparser ${second}`)
  assert.deepEqual([read, other], [expected, file])
}
await show("7bit", file, "a,b\n1,2\n")
await show("quoted-printable", file, "a,b\n1,2\n")
await show("base64", Buffer.from(file).toString("base64"), file)
PROGRAM
node run.mjs
