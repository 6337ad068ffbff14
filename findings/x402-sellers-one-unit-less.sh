#!/usr/bin/env bash
# @dexterai/x402 2.0.0 and uvd-x402-sdk 2.38.0 ask one base unit less than the price for some prices, and 2,000 less at 18
# decimals.
#
# They multiply a floating-point number by a power of ten and drop the rest. Of the 10,000 prices from $0.01 to $100 at six
# decimals, 151 are wrong, such as 2.01. The terms then differ from the announced price: a buyer who compares them finds another
# price, and the seller's books do not match by a unit. @x402/core 2.27.0 computes with digits.
#
# Output:
#   0.01 at 6 decimals: @x402/core 10000, @dexterai/x402 10000, uvd-x402-sdk 10000
#   1.005 at 6 decimals: @x402/core 1005000, @dexterai/x402 1004999, uvd-x402-sdk 1004999
#   2.01 at 6 decimals: @x402/core 2010000, @dexterai/x402 2009999, uvd-x402-sdk 2009999
#   8.20 at 6 decimals: @x402/core 8200000, @dexterai/x402 8199999, uvd-x402-sdk 8199999
#   16.4 at 18 decimals: @x402/core 16400000000000000000, @dexterai/x402 16399999999999998000, uvd-x402-sdk not tried
#   prices from 0.01 to 100.00 that @dexterai/x402 changes: 151
#   prices from 0.01 to 100.00 that uvd-x402-sdk changes: 151
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @dexterai/x402@2.0.0 uvd-x402-sdk@2.38.0 @x402/core@2.27.0
cat >run.mjs <<'PROGRAM'
import { toAtomicUnits } from "@dexterai/x402/utils"
import { convertToTokenAmount } from "@x402/core/utils"
import assert from "node:assert/strict"
import { buildPaymentRequirements } from "uvd-x402-sdk"

const recipient = "0x857b06519E91e3A54538791bDbb0E22373e36b66"
const sale = { recipient, resource: "https://a.example/x", chainName: "base" }
const uvd = (amount) => buildPaymentRequirements({ ...sale, amount }).maxAmountRequired
const show = (price, decimals, ...expected) => {
  const other = decimals === 6 ? uvd(price) : "not tried"
  const seen = [convertToTokenAmount(price, decimals), toAtomicUnits(price, decimals), other]
  console.log(`${price} at ${decimals} decimals: @x402/core ${seen[0]}, @dexterai/x402 ${seen[1]}, uvd-x402-sdk ${seen[2]}`)
  assert.deepEqual(seen, expected)
}
show("0.01", 6, "10000", "10000", "10000")
show("1.005", 6, "1005000", "1004999", "1004999")
show("2.01", 6, "2010000", "2009999", "2009999")
show("8.20", 6, "8200000", "8199999", "8199999")
show("16.4", 18, "16400000000000000000", "16399999999999998000", "not tried")
const prices = Array.from({ length: 10_000 }, (_, index) => ((index + 1) / 100).toFixed(2))
for (const [name, convert] of Object.entries({ "@dexterai/x402": (price) => toAtomicUnits(price, 6), "uvd-x402-sdk": uvd })) {
  const { length } = prices.filter((price) => convert(price) !== convertToTokenAmount(price, 6))
  console.log(`prices from 0.01 to 100.00 that ${name} changes: ${length}`)
  assert.equal(length, 151)
}
PROGRAM
node run.mjs
