#!/usr/bin/env bash
# mailparser 3.14.2 decodes percent signs in segments of a file name that are not encoded.
#
# RFC 2231 (section 4.1) lets a long parameter consist of segments, of which only those with a star at their end are encoded.
# A report "100%25.pdf" whose name is written in two segments, the second of them plain, gets another name. postal-mime 4.0.0
# keeps the plain segment.
#
# Output:
#   postal-mime "growth é of 100%25.pdf"
#   mailparser "growth é of 100%.pdf"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const part = [
  "Content-Type: application/pdf",
  "Content-Disposition: attachment; filename*0*=utf-8''growth%20%C3%A9%20; filename*1=\"of 100%25.pdf\"",
  "",
  "x"
].join("\r\n")
const raw = `From: ada@a.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n--b\r\n${part}\r\n--b--\r\n`
const [{ filename }] = (await PostalMime.parse(raw)).attachments
const [{ filename: other }] = (await simpleParser(raw)).attachments
console.log(`postal-mime ${JSON.stringify(filename)}`)
console.log(`mailparser ${JSON.stringify(other)}`)
assert.deepEqual([filename, other], ["growth é of 100%25.pdf", "growth é of 100%.pdf"])
PROGRAM
node run.mjs
