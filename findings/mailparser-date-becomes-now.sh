#!/usr/bin/env bash
# mailparser 3.14.2 gives a mail the time of parsing as its date where it can't read the Date field.
#
# Two forms that RFC 5322 allows readers to meet (section 4.3) are among them: a military zone ("A" to "Z"), and spaces around
# the colons of the time. Nothing shows that the date was made up, and each parsing gives another one. postal-mime 4.0.0
# returns the text of the field instead.
#
# Output:
#   1 Jun 2026 10:00:00 A: mailparser says now, postal-mime "1 Jun 2026 10:00:00 A"
#   Mon, 1 Jun 2026 10 : 00 : 00 +0000: mailparser says now, postal-mime "Mon, 1 Jun 2026 10 : 00 : 00 +0000"
#   1 Jun 2026 10:00:00 Z: mailparser says 2026-06-01T10:00:00.000Z, postal-mime "2026-06-01T10:00:00.000Z"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const show = async (field, expected) => {
  const raw = `From: ada@a.example\r\nDate: ${field}\r\n\r\nHello\r\n`
  const before = Date.now()
  const { date } = await simpleParser(raw)
  const said = date.getTime() >= before && date.getTime() <= Date.now() ? "now" : date.toISOString()
  const { date: other } = await PostalMime.parse(raw)
  console.log(`${field}: mailparser says ${said}, postal-mime ${JSON.stringify(other)}`)
  assert.deepEqual([said, other], expected)
}
await show("1 Jun 2026 10:00:00 A", ["now", "1 Jun 2026 10:00:00 A"])
await show("Mon, 1 Jun 2026 10 : 00 : 00 +0000", ["now", "Mon, 1 Jun 2026 10 : 00 : 00 +0000"])
await show("1 Jun 2026 10:00:00 Z", ["2026-06-01T10:00:00.000Z", "2026-06-01T10:00:00.000Z"])
PROGRAM
node run.mjs
