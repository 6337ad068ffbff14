#!/usr/bin/env bash
# email-addresses 5.0.0 returns nothing for a list that ends in a comma, and an address with a space for one that begins with it.
#
# A reader must accept lists with empty places (RFC 5322, section 4.4, obs-addr-list); programs that join addresses write them. The
# package says that it supports all features of that document. Its option `partial` returns the addresses before the first empty
# place.
#
# Output:
#   bob@b.example, al@b.example: ["bob@b.example","al@b.example"]
#   bob@b.example, al@b.example,: null
#   bob@b.example, , al@b.example: null
#   , bob@b.example: [" bob@b.example"]
#   bob@b.example, , al@b.example, partial: ["bob@b.example"]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund email-addresses@5.0.0
cat >run.mjs <<'PROGRAM'
import parse from "email-addresses"
import assert from "node:assert/strict"

const show = (input, expected, options = {}) => {
  const seen = parse({ input, ...options })?.addresses.map(({ address }) => address) ?? null
  console.log(`${[input, ...Object.keys(options)].join(", ")}: ${JSON.stringify(seen)}`)
  assert.deepEqual(seen, expected)
}
show("bob@b.example, al@b.example", ["bob@b.example", "al@b.example"])
show("bob@b.example, al@b.example,", null)
show("bob@b.example, , al@b.example", null)
show(", bob@b.example", [" bob@b.example"])
show("bob@b.example, , al@b.example", ["bob@b.example"], { partial: true })
PROGRAM
node run.mjs
