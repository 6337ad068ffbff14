#!/usr/bin/env bash
# web3-utils 4.3.3 returns "0.0000000000000000-1" for a debt of one wei, and no digit for an amount below one base unit.
#
# fromWei puts the sign of a negative amount behind the zeros that it adds, so differences of balances cannot be read as
# numbers. toWei cuts digits that the unit does not have, where web3-utils 1.10.4 throws; an amount below the smallest unit
# becomes the empty text, which BigInt reads as 0. ethers 6.17.0 writes the sign first and throws.
#
# Output:
#   -1 wei in ether: web3-utils 4 "0.0000000000000000-1", web3-utils 1 "-0.000000000000000001", ethers "-0.000000000000000001"
#   -1500000 in mwei: web3-utils 4 "-1.5", web3-utils 1 "-1.5", ethers "-1.5"
#   0.0000001 mwei in wei: web3-utils 4 "", web3-utils 1 throws, ethers throws
#   1.1234567 mwei in wei: web3-utils 4 "1123456", web3-utils 1 throws, ethers throws
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund web3-utils@4.3.3 old@npm:web3-utils@1.10.4 ethers@6.17.0
cat >run.mjs <<'PROGRAM'
import { formatUnits, parseUnits } from "ethers"
import assert from "node:assert/strict"
import old from "old"
import { fromWei, toWei } from "web3-utils"

const attempt = (call) => {
  try {
    return JSON.stringify(String(call()))
  } catch {
    return "throws"
  }
}
const show = (label, calls, ...expected) => {
  const seen = calls.map(attempt)
  console.log(`${label}: web3-utils 4 ${seen[0]}, web3-utils 1 ${seen[1]}, ethers ${seen[2]}`)
  assert.deepEqual(seen, expected)
}
const from = (amount, unit, decimals) => [
  () => fromWei(amount, unit),
  () => old.fromWei(amount, unit),
  () => formatUnits(amount, decimals)
]
const to = (amount, unit, decimals) => [() => toWei(amount, unit), () => old.toWei(amount, unit), () => parseUnits(amount, decimals)]
show("-1 wei in ether", from("-1", "ether", 18), '"0.0000000000000000-1"', '"-0.000000000000000001"', '"-0.000000000000000001"')
show("-1500000 in mwei", from("-1500000", "mwei", 6), '"-1.5"', '"-1.5"', '"-1.5"')
show("0.0000001 mwei in wei", to("0.0000001", "mwei", 6), '""', "throws", "throws")
show("1.1234567 mwei in wei", to("1.1234567", "mwei", 6), '"1123456"', "throws", "throws")
PROGRAM
node run.mjs
