#!/usr/bin/env bash
# mailparser 3.14.2 makes message ids of the comments in References, and of the words in In-Reply-To.
#
# RFC 5322 allows comments between message ids, and older programs wrote a phrase before the id (section 4.5.4, obs-in-reply-to).
# A thread that is looked up by such a value is not found. postal-mime 4.0.0 returns both fields as they are.
#
# Output:
#   mailparser references: ["<1@a.example>","<(phone)>","<2@a.example>"]
#   mailparser inReplyTo: "<Your message of Monday <2@a.example>"
#   postal-mime references: "<1@a.example> (phone) <2@a.example>"
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
  "From: ada@a.example",
  "In-Reply-To: Your message of Monday <2@a.example>",
  "References: <1@a.example> (phone) <2@a.example>",
  "",
  "Hello",
  ""
].join("\r\n")
const show = (name, value, expected) => {
  console.log(`${name}: ${JSON.stringify(value)}`)
  assert.deepEqual(value, expected)
}
const parsed = await simpleParser(raw)
show("mailparser references", parsed.references, ["<1@a.example>", "<(phone)>", "<2@a.example>"])
show("mailparser inReplyTo", parsed.inReplyTo, "<Your message of Monday <2@a.example>")
show("postal-mime references", (await PostalMime.parse(raw)).references, "<1@a.example> (phone) <2@a.example>")
PROGRAM
node run.mjs
