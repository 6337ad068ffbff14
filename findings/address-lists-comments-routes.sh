#!/usr/bin/env bash
# postal-mime 4.0.0 and mailparser 3.14.2 read other addresses than RFC 5322 from lists with nested comments, routes and spaces.
#
# A comment may contain another one (section 3.2.2). A reader must accept the obsolete route before an address and spaces around
# its dots (section 4.4), and ignore both. An answer to such an address cannot be delivered, or goes to another domain.
#
# Output:
#   bob@b.example (Bob (the builder)): postal-mime "bob@b.example)", mailparser "bob@b.example"
#   <@relay.example,@x.example:bob@b.example>: postal-mime "@relay.example,@x.example:bob@b.example", mailparser "bob@b.example"
#   bob . smith @ b . example: postal-mime "bob . smith @ b . example", mailparser "smith@b"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund postal-mime@4.0.0 mailparser@3.14.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { simpleParser } from "mailparser"
import PostalMime from "postal-mime"

const show = async (list, expected) => {
  const raw = `From: ada@a.example\r\nTo: ${list}\r\n\r\nHello\r\n`
  const [{ address }] = (await PostalMime.parse(raw)).to
  const [{ address: other }] = (await simpleParser(raw)).to.value
  console.log(`${list}: postal-mime ${JSON.stringify(address)}, mailparser ${JSON.stringify(other)}`)
  assert.deepEqual([address, other], expected)
}
await show("bob@b.example (Bob (the builder))", ["bob@b.example)", "bob@b.example"])
await show("<@relay.example,@x.example:bob@b.example>", ["@relay.example,@x.example:bob@b.example", "bob@b.example"])
await show("bob . smith @ b . example", ["bob . smith @ b . example", "smith@b"])
PROGRAM
node run.mjs
