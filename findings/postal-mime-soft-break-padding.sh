#!/usr/bin/env bash
# postal-mime 4.0.0 keeps a soft line break of quoted-printable, with its equals sign, if white space follows the sign.
#
# RFC 2045 (section 6.7) allows this white space as transport padding, which a relay may have added, and a reader removes it.
# mailparser 3.14.2 does. A sentence that a sender's program wrapped so arrives cut into lines that end in "=".
#
# Output:
#   postal-mime "Hello= \t\n World\n"
#   mailparser "Hello World\n"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const raw =
  "From: ada@a.example\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nHello= \t\r\n World\r\n"
const { text } = await PostalMime.parse(raw)
const { text: other } = await simpleParser(raw)
console.log(`postal-mime ${JSON.stringify(text)}`)
console.log(`mailparser ${JSON.stringify(other)}`)
assert.deepEqual([text, other], ["Hello= \t\n World\n", "Hello World\n"])
PROGRAM
node run.mjs
