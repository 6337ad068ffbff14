#!/usr/bin/env bash
# mailparser 3.14.2 reports another media type than the sender wrote: that of the file name, in place of application/octet-stream.
#
# Nothing tells that the type was not in the mail. An application that shows files by their type treats a file as HTML whose sender
# named it only bytes. postal-mime 4.0.0 returns the type of the mail.
#
# Output:
#   a.html: mailparser text/html, postal-mime application/octet-stream
#   b.pdf: mailparser application/pdf, postal-mime application/octet-stream
#   data: mailparser application/octet-stream, postal-mime application/octet-stream
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const show = async (name, expected) => {
  const part = `Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=${name}\r\n\r\nx`
  const raw = `From: ada@a.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${part}\r\n--b--\r\n`
  const [{ contentType }] = (await simpleParser(raw)).attachments
  const [{ mimeType }] = (await PostalMime.parse(raw)).attachments
  console.log(`${name}: mailparser ${contentType}, postal-mime ${mimeType}`)
  assert.deepEqual([contentType, mimeType], [expected, "application/octet-stream"])
}
await show("a.html", "text/html")
await show("b.pdf", "application/pdf")
await show("data", "application/octet-stream")
PROGRAM
node run.mjs
