#!/usr/bin/env bash
# letterparser 0.1.8 appends the text of an attached message, and the source of an invitation, to the text of a mail.
#
# A message that is attached (message/rfc822) was written by somebody else, and its words read as if the sender had written them. It
# is not among the attachments, and its author is lost. The same holds for text/calendar, the alternative for calendar programs.
# mailparser 3.14.2 returns both as attachments.
#
# Output:
#   message/rfc822: letterparser text "See below.\nPay me.", attachments 0; mailparser text "See below.", attachments 1
#   text/calendar: letterparser text "See below.\nBEGIN:VCALENDAR\nEND:VCALENDAR", attachments 0; mailparser text "See below.", attachments 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund letterparser@0.1.8 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import { extract } from "letterparser"
import { simpleParser } from "mailparser"
import assert from "node:assert/strict"

const mail = (kind, type, content) =>
  [
    "From: ada@a.example",
    "MIME-Version: 1.0",
    `Content-Type: multipart/${kind}; boundary=b`,
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "See below.",
    "--b",
    `Content-Type: ${type}`,
    "",
    ...content,
    "--b--",
    ""
  ].join("\r\n")
const show = async (type, raw, expected) => {
  const seen = [extract(raw), await simpleParser(raw)].map(({ attachments, text }) => [text.trimEnd(), attachments.length])
  const [one, other] = seen.map(([text, count]) => `text ${JSON.stringify(text)}, attachments ${count}`)
  console.log(`${type}: letterparser ${one}; mailparser ${other}`)
  assert.deepEqual(seen, [[expected, 0], ["See below.", 1]])
}
const inner = ["From: carol@c.example", "Subject: Invoice", "", "Pay me."]
await show("message/rfc822", mail("mixed", "message/rfc822", inner), "See below.\nPay me.")
const calendar = ["BEGIN:VCALENDAR", "END:VCALENDAR"]
const source = "See below.\nBEGIN:VCALENDAR\nEND:VCALENDAR"
await show("text/calendar", mail("alternative", "text/calendar; method=REQUEST", calendar), source)
PROGRAM
node run.mjs
