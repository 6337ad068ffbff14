#!/usr/bin/env bash
# ethjs-unit 0.1.6 converts 10^21 wei to 23,521 wei, and 0.0000001 ether to 2,377 ether, if the amount is a number.
#
# JavaScript writes numbers from 10^21 on and below 10^-6 with an exponent. The package refuses such text if it is given as
# text. A number becomes text inside, after that check, and its library for large integers reads the letter e as a digit. Its
# README says that it supports no decimals, but it converts 0.000001, and nothing is thrown. web3-utils 1.10.4, which is built
# on the package, takes no numbers at all. Amounts have to be text without an exponent.
#
# Output:
#   toWei("0.0000001", "ether"): 100000000000
#   toWei(0.000001, "ether"): 1000000000000
#   toWei(0.0000001, "ether"): 2377000000000000000000
#   toWei(1e21, "wei"): 23521
#   toWei("1e-7", "ether"): throws "while converting number to string, invalid number value '1e-7', should be a number matching (^-?[0-9.]+)."
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ethjs-unit@0.1.6
cat >run.mjs <<'PROGRAM'
import { toWei } from "ethjs-unit"
import assert from "node:assert/strict"

const attempt = (call) => {
  try {
    return String(call())
  } catch (error) {
    return `throws "${error.message}"`
  }
}
const show = (label, call, expected) => {
  const seen = attempt(call)
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
show('toWei("0.0000001", "ether")', () => toWei("0.0000001", "ether"), "100000000000")
show('toWei(0.000001, "ether")', () => toWei(0.000001, "ether"), "1000000000000")
show('toWei(0.0000001, "ether")', () => toWei(0.0000001, "ether"), "2377000000000000000000")
show('toWei(1e21, "wei")', () => toWei(1e21, "wei"), "23521")
const refusal = "while converting number to string, invalid number value '1e-7', should be a number matching (^-?[0-9.]+)."
show('toWei("1e-7", "ether")', () => toWei("1e-7", "ether"), `throws "${refusal}"`)
PROGRAM
node run.mjs
