#!/usr/bin/env bash
# json-canonicalize 3.0.1 does not sort the keys of an object that toJSON returns, so its output is not canonical.
#
# RFC 8785, section 3.2.3, sorts the properties of every object, and the package applies toJSON, as JSON.stringify does, but
# then writes what it returns as it is. Classes for money, events and models have such a method. A signature over the text then
# depends on the order in which the class lists its fields, and a verifier, who has plain JSON, computes another one.
# canonicalize 5.1.0 sorts them. JSON.parse(JSON.stringify(value)) has to come first.
#
# Output:
#   an object with toJSON: json-canonicalize {"price":{"value":"1","asset":"USDT"}}, canonicalize {"price":{"asset":"USDT","value":"1"}}
#   the same as a receiver has it: json-canonicalize {"price":{"asset":"USDT","value":"1"}}, canonicalize {"price":{"asset":"USDT","value":"1"}}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund json-canonicalize@3.0.1 canonicalize@5.1.0
cat >run.mjs <<'PROGRAM'
import other from "canonicalize"
import { canonicalize } from "json-canonicalize"
import assert from "node:assert/strict"

class Amount {
  toJSON() {
    return { value: "1", asset: "USDT" }
  }
}
const show = (label, value, ...expected) => {
  const seen = [canonicalize(value), other(value)]
  console.log(`${label}: json-canonicalize ${seen[0]}, canonicalize ${seen[1]}`)
  assert.deepEqual(seen, expected)
}
const sorted = '{"price":{"asset":"USDT","value":"1"}}'
const value = { price: new Amount() }
show("an object with toJSON", value, '{"price":{"value":"1","asset":"USDT"}}', sorted)
show("the same as a receiver has it", JSON.parse(JSON.stringify(value)), sorted, sorted)
PROGRAM
node run.mjs
