#!/usr/bin/env bash
# structured-headers 2.1.0 writes decimals such as 1.0004 without a digit after the point, which no reader accepts, itself
# included.
#
# RFC 9651, section 4.1.5, rounds a decimal to three digits after the point, and writes one at least. The package writes "1."
# for 1.0004 and "0." for 0.00001. A field that does not parse is ignored as a whole (section 4.2), so one small value in a
# dictionary loses the others.
#
# Output:
#   0.5: limit=100, rate=0.5 (read by itself, read by structured-field-values); structured-field-values writes 0.5
#   1.0004: limit=100, rate=1. (refused by itself, refused by structured-field-values); structured-field-values writes 1.0
#   0.00001: limit=100, rate=0. (refused by itself, refused by structured-field-values); structured-field-values writes 0.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund structured-headers@2.1.0 structured-field-values@2.0.4
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { decodeDict, encodeItem } from "structured-field-values"
import { parseDictionary, serializeDictionary } from "structured-headers"

const attempt = (call) => {
  try {
    return call()
  } catch {
    return "refused"
  }
}
const show = (value, ...expected) => {
  const field = serializeDictionary({ limit: 100, rate: value })
  const reads = (parse) => attempt(() => (parse(field), "read"))
  const seen = [field, reads(parseDictionary), reads(decodeDict), encodeItem(value)]
  const own = `${seen[0]} (${seen[1]} by itself, ${seen[2]} by structured-field-values)`
  console.log(`${value}: ${own}; structured-field-values writes ${seen[3]}`)
  assert.deepEqual(seen, expected)
}
show(0.5, "limit=100, rate=0.5", "read", "read", "0.5")
show(1.0004, "limit=100, rate=1.", "refused", "refused", "1.0")
show(0.00001, "limit=100, rate=0.", "refused", "refused", "0.0")
PROGRAM
node run.mjs
