#!/usr/bin/env bash
# letterparser 0.1.8 makes an address of a part of a name, of a group's name, and of a comment.
#
# It decodes the encoded words of a list first, and then splits the list at commas, so "Smith, Bob" becomes two recipients. RFC
# 2047, section 6.2, has the words decoded last. In From the same name stays whole. A group (RFC 5322, section 3.4) is not read, and
# a name behind the address, in a comment, stays part of the address. An answer to all recipients fails.
#
# Output:
#   =?utf-8?Q?Smith=2C_Bob?= <bob@b.example>: ["Smith","bob@b.example"]
#   "Smith, Bob" <bob@b.example>: ["bob@b.example"]
#   Team: ada@a.example, bob@b.example;: ["Team: ada@a.example","bob@b.example;"]
#   bob@b.example (Bob): ["bob@b.example (Bob)"]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund letterparser@0.1.8
cat >run.mjs <<'PROGRAM'
import { extract } from "letterparser"
import assert from "node:assert/strict"

const show = (list, expected) => {
  const addresses = extract(`From: ada@a.example\r\nTo: ${list}\r\n\r\nHello\r\n`).to.map(({ address }) => address)
  console.log(`${list}: ${JSON.stringify(addresses)}`)
  assert.deepEqual(addresses, expected)
}
show("=?utf-8?Q?Smith=2C_Bob?= <bob@b.example>", ["Smith", "bob@b.example"])
show('"Smith, Bob" <bob@b.example>', ["bob@b.example"])
show("Team: ada@a.example, bob@b.example;", ["Team: ada@a.example", "bob@b.example;"])
show("bob@b.example (Bob)", ["bob@b.example (Bob)"])
PROGRAM
node run.mjs
