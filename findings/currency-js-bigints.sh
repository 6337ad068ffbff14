#!/usr/bin/env bash
# currency.js 2.0.4 takes a bigint for 0, and the text "1e6" for 16.
#
# Base units of tokens are bigints in viem, ethers and web3. currency.js neither adds nor refuses them: a total with one stays
# as it was, and a payment becomes 0. Its option errorOnInvalid refuses bigints, but not text with an exponent, as String(1e21)
# and JSON give it, of which it drops the letter. Convert bigints to text, and set the option.
#
# Output:
#   currency(1500000n, { fromCents: true, precision: 6 }) = 0.000000
#   currency("10.00").add(5n) = 10.00
#   currency(5n, { errorOnInvalid: true }) = Error: Invalid Input
#   currency("1e6", { errorOnInvalid: true }) = 16.00
#   currency(String(1e21), { errorOnInvalid: true }) = 121.00
#   currency("1500000", { fromCents: true, precision: 6 }) = 1.500000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund currency.js@2.0.4
cat >run.mjs <<'PROGRAM'
import currency from "currency.js"
import assert from "node:assert/strict"

const show = (label, calculate, expected) => {
  let seen
  try {
    seen = calculate().toString()
  } catch (error) {
    seen = String(error)
  }
  console.log(`${label} = ${seen}`)
  assert.equal(seen, expected)
}
const units = { fromCents: true, precision: 6 }
const strict = { errorOnInvalid: true }
show("currency(1500000n, { fromCents: true, precision: 6 })", () => currency(1500000n, units), "0.000000")
show('currency("10.00").add(5n)', () => currency("10.00").add(5n), "10.00")
show("currency(5n, { errorOnInvalid: true })", () => currency(5n, strict), "Error: Invalid Input")
show('currency("1e6", { errorOnInvalid: true })', () => currency("1e6", strict), "16.00")
show("currency(String(1e21), { errorOnInvalid: true })", () => currency(String(1e21), strict), "121.00")
show('currency("1500000", { fromCents: true, precision: 6 })', () => currency("1500000", units), "1.500000")
PROGRAM
node run.mjs
