#!/usr/bin/env bash
# gmail-api-parse-message 2.1.2 and gmail-api-parse-message-ts 2.2.33 return the last text of a mail as its text, whoever wrote it.
#
# Both keep one text/plain part. A mailing list adds its footer as another one, and Apple Mail splits a text around a picture. Then
# the words of the sender are lost. A message that is attached has parts of its own in the Gmail API: its text replaces the text of
# the mail that it is attached to. Walk payload.parts, skip message/rfc822, and join the texts. Of fields that occur several
# times, gmail-api-parse-message keeps the last one, so of Authentication-Results not the one of Gmail, which is the first.
#
# Output, of both:
#   list with a footer: "You get this mail from list@a.example."
#   message attached: "Pay me."
# Output of gmail-api-parse-message:
#   authentication-results: "mx.a.example; spf=fail"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund gmail-api-parse-message@2.1.2 gmail-api-parse-message-ts@2.2.33
cat >run.mjs <<'PROGRAM'
import parseMessage from "gmail-api-parse-message"
import { ParseGmailApi } from "gmail-api-parse-message-ts"
import assert from "node:assert/strict"

const part = (mimeType, parts, headers = []) => ({ mimeType, filename: "", headers, body: { size: 0 }, parts })
const text = (words) => ({
  ...part("text/plain"),
  body: { size: words.length, data: Buffer.from(words).toString("base64url") }
})
const mail = (payload) => ({ id: "1", threadId: "1", labelIds: [], snippet: "", internalDate: "1796137200000", payload })
const show = (label, payload, expected) => {
  const seen = [parseMessage(mail(payload)), new ParseGmailApi().parseMessage(mail(payload))].map(({ textPlain }) => textPlain)
  console.log(`${label}: ${JSON.stringify(seen[0])}`)
  assert.deepEqual(seen, [expected, expected])
}
const footer = "You get this mail from list@a.example."
show("list with a footer", part("multipart/mixed", [text("Dinner at eight."), text(footer)]), footer)
const attached = part("message/rfc822", [text("Pay me.")])
show("message attached", part("multipart/mixed", [text("Is this yours?"), attached]), "Pay me.")

const name = "Authentication-Results"
const results = ["mx.google.com; spf=pass", "mx.a.example; spf=fail"].map((value) => ({ name, value }))
const seen = parseMessage(mail({ ...text("Hello"), headers: results })).headers[name.toLowerCase()]
console.log(`${name.toLowerCase()}: ${JSON.stringify(seen)}`)
assert.equal(seen, results[1].value)
PROGRAM
node run.mjs
