#!/usr/bin/env bash
# extract-email-address 3.2.0, email-regex-safe 4.0.0, email-regex 6.1.0 and get-emails 5.0.0 find other addresses than a text has.
#
# Where they do not know a character of an address, they return the rest behind it. The first two know no apostrophe and no "=",
# which RFC 5321 allows and lists write (VERP). None of them knows all letters beyond ASCII (RFC 6531). An answer goes to somebody
# else, or to another host. linkifyjs 4.3.3 finds all of these. Refuse a result that has a letter right before it or behind it.
#
# Output:
#   o'hara@example.com: extract-email-address hara@example.com, email-regex-safe hara@example.com, the others right
#   list+ada=a.org@example.com: extract-email-address a.org@example.com, email-regex-safe a.org@example.com, the others right
#   zoë.b@example.com: extract-email-address b@example.com, email-regex-safe none, email-regex b@example.com, get-emails b@example.com
#   ada@bücher.com: extract-email-address none, email-regex ada@b, get-emails ada@b, the others right
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund extract-email-address@3.2.0 email-regex-safe@4.0.0 email-regex@6.1.0 get-emails@5.0.0 \
  linkifyjs@4.3.3
cat >run.mjs <<'PROGRAM'
import emailRegex from "email-regex"
import emailRegexSafe from "email-regex-safe"
import extract from "extract-email-address"
import getEmails from "get-emails"
import * as linkify from "linkifyjs"
import assert from "node:assert/strict"

const finders = {
  "extract-email-address": (text) => extract.extractEmail(text).map(({ email }) => email),
  "email-regex-safe": (text) => text.match(emailRegexSafe()) ?? [],
  "email-regex": (text) => text.match(emailRegex()) ?? [],
  "get-emails": (text) => [...getEmails(text)]
}
const show = (address, expected) => {
  const text = `Write to ${address} today.`
  assert.deepEqual(linkify.find(text, "email").map(({ value }) => value), [address])
  const wrong = Object.entries(finders)
    .map(([name, find]) => [name, find(text)[0] ?? "none"])
    .filter(([, found]) => found !== address)
  const seen = wrong.map((pair) => pair.join(" "))
  if (seen.length < Object.keys(finders).length) seen.push("the others right")
  console.log(`${address}: ${seen.join(", ")}`)
  assert.deepEqual(Object.fromEntries(wrong), expected)
}
const [first, safe, regex, get] = Object.keys(finders)
show("o'hara@example.com", { [first]: "hara@example.com", [safe]: "hara@example.com" })
show("list+ada=a.org@example.com", { [first]: "a.org@example.com", [safe]: "a.org@example.com" })
const letters = { [first]: "b@example.com", [safe]: "none", [regex]: "b@example.com", [get]: "b@example.com" }
show("zoë.b@example.com", letters)
show("ada@bücher.com", { [first]: "none", [regex]: "ada@b", [get]: "ada@b" })
PROGRAM
node run.mjs
