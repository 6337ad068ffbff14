#!/usr/bin/env bash
# planer 1.2.0 and talonjs 1.0.28 drop all of a mail from a line on that begins with "Date:", and planer also from "From:" on.
#
# They take such a line for the beginning of a quoted mail, though none follows it. Forms, orders and bookings have lines like
# these. The result can be empty. email-reply-parser 2.3.9 keeps them. Keep the whole text next to the result.
#
# Output:
#   planer: "Name: Bob\nDate: 2026-12-04\nGuests: 4" → "Name: Bob"
#   planer: "Two nights.\nFrom: 2026-12-04\nTo: 2026-12-06" → "Two nights."
#   planer: "From: Monday on we open at ten.\nSee you then." → ""
#   talonjs: "Name: Bob\nDate: 2026-12-04\nGuests: 4" → "Name: Bob"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund planer@1.2.0 talonjs@1.0.28 email-reply-parser@2.3.9
cat >run.mjs <<'PROGRAM'
import EmailReplyParser from "email-reply-parser"
import assert from "node:assert/strict"
import planer from "planer"
import talon from "talonjs"

const show = (name, read, text, expected) => {
  const seen = read(text)
  console.log(`${name}: ${JSON.stringify(text)} → ${JSON.stringify(seen)}`)
  assert.equal(seen, expected)
  assert.equal(new EmailReplyParser().parseReply(text), text)
}
const byPlaner = (text) => planer.extractFrom(text, "text/plain")
const form = "Name: Bob\nDate: 2026-12-04\nGuests: 4"
show("planer", byPlaner, form, "Name: Bob")
show("planer", byPlaner, "Two nights.\nFrom: 2026-12-04\nTo: 2026-12-06", "Two nights.")
show("planer", byPlaner, "From: Monday on we open at ten.\nSee you then.", "")
show("talonjs", (text) => talon.quotations.extractFromPlain(text).body, form, "Name: Bob")
PROGRAM
node run.mjs
