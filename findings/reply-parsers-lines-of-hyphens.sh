#!/usr/bin/env bash
# email-reply-parser 2.3.9 and node-email-reply-parser 0.1.4 drop all of a mail behind a line of hyphens, as a rule of Markdown is.
#
# They take the rest, over several paragraphs, for a signature. Agents write "---" between sections. node-email-reply-parser and
# emailreplyparser 0.0.5 do so at each line that begins with two or three hyphens: a patch, or a public key as in PEM files. planer
# 1.2.0 keeps these lines. A signature begins with "-- " alone on its line (RFC 3676, section 4.3).
#
# Output:
#   rule: email-reply-parser "Plan:", node-email-reply-parser "Plan:", emailreplyparser "Plan:", planer all
#   patch: email-reply-parser all, node-email-reply-parser "Plan:", emailreplyparser "Plan:", planer all
#   public key: email-reply-parser all, node-email-reply-parser "Plan:", emailreplyparser "Plan:", planer all
#   rule without empty lines: email-reply-parser "Plan:", node-email-reply-parser "Plan:", emailreplyparser all, planer all
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund email-reply-parser@2.3.9 node-email-reply-parser@0.1.4 emailreplyparser@0.0.5 planer@1.2.0
cat >run.mjs <<'PROGRAM'
import EmailReplyParser from "email-reply-parser"
import old from "emailreplyparser"
import nodeEmailReplyParser from "node-email-reply-parser"
import assert from "node:assert/strict"
import planer from "planer"

const readers = {
  "email-reply-parser": (text) => new EmailReplyParser().parseReply(text),
  "node-email-reply-parser": (text) => nodeEmailReplyParser(text).getVisibleText(),
  emailreplyparser: (text) => old.EmailReplyParser.parse_reply(text),
  planer: (text) => planer.extractFrom(text, "text/plain")
}
const show = (label, text, expected) => {
  const seen = Object.entries(readers).map(([name, read]) => {
    const visible = read(text).trim()
    return `${name} ${visible === text.trim() ? "all" : JSON.stringify(visible)}`
  })
  console.log(`${label}: ${seen.join(", ")}`)
  assert.deepEqual(seen, Object.keys(readers).map((name, at) => `${name} ${expected[at] ? "all" : '"Plan:"'}`))
}
const [cut, all] = [false, true]
show("rule", "Plan:\n\n---\n\nFirst, pay.\n\n---\n\nThen write to me.\n", [cut, cut, cut, all])
show("patch", "Plan:\n\n--- a/pay.js\n+++ b/pay.js\n@@ -1 +1 @@\n-pay(5)\n+pay(6)\n", [all, cut, cut, all])
const key = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2Vw\n-----END PUBLIC KEY-----"
show("public key", `Plan:\n\n${key}\n\nSign it, then write to me.\n`, [all, cut, cut, all])
show("rule without empty lines", "Plan:\n---\nFirst, pay.\n\nThen write to me.\n", [cut, cut, all, all])
PROGRAM
node run.mjs
