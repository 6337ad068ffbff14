#!/usr/bin/env bash
# js-money 0.6.3 refuses 1,146 of the prices from $0.01 to $99.99, such as $1.10, with "Amount must be an integer".
#
# Money.fromDecimal multiplies the amount by 100 as a number, which gives 110.00000000000001 for 1.1, and does not round. With
# Math.ceil, which its README shows as the rounder, the same prices become a cent more. Math.round makes all of them right. Tests
# with amounts such as 15.25 pass, so the error shows up with a customer's price.
#
# Output:
#   1.1: Amount must be an integer; Math.ceil 111; Math.round 110
#   refused: 1146 of 9999; wrong with Math.ceil: 573; wrong with Math.round: 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund js-money@0.6.3
cat >run.mjs <<'PROGRAM'
import Money from "js-money"
import assert from "node:assert/strict"

const cents = (price, round) => {
  try {
    return Money.fromDecimal(price, "USD", round).amount
  } catch (error) {
    return error.message
  }
}
const [plain, up, nearest] = [undefined, Math.ceil, Math.round].map((round) => cents(1.1, round))
console.log(`1.1: ${plain}; Math.ceil ${up}; Math.round ${nearest}`)
assert.deepEqual([plain, up, nearest], ["Amount must be an integer", 111, 110])

const prices = Array.from({ length: 9999 }, (_, at) => at + 1)
const wrong = (round) => prices.filter((price) => cents(Number((price / 100).toFixed(2)), round) !== price).length
const counts = [wrong(), wrong(Math.ceil), wrong(Math.round)]
console.log(`refused: ${counts[0]} of 9999; wrong with Math.ceil: ${counts[1]}; wrong with Math.round: ${counts[2]}`)
assert.deepEqual(counts, [1146, 573, 0])
PROGRAM
node run.mjs
