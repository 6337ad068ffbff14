#!/usr/bin/env bash
# x402 1.2.0 states prices such as $2.01 and $8.20 in fractions of a base unit, so that no client can pay them.
#
# The terms of x402 have a whole number of base units. processPriceToAtomicAmount, which middlewares call for each price,
# multiplies a floating-point number by 10^6 and does not round. 295 of the 10,000 prices from $0.01 to $100 get a fraction. The
# package's own schema refuses such terms, and its client throws. @x402/core 2.27.0 computes with digits.
#
# Output:
#   $0.01: x402 10000, schema valid, client signs; @x402/core 10000
#   $1.005: x402 1004999.9999999999, schema invalid, client Cannot convert 1004999.9999999999 to a BigInt; @x402/core 1005000
#   $2.01: x402 2009999.9999999998, schema invalid, client Cannot convert 2009999.9999999998 to a BigInt; @x402/core 2010000
#   $4.03: x402 4030000.0000000005, schema invalid, client Cannot convert 4030000.0000000005 to a BigInt; @x402/core 4030000
#   $8.20: x402 8199999.999999999, schema invalid, client Cannot convert 8199999.999999999 to a BigInt; @x402/core 8200000
#   prices from $0.01 to $100.00 with a fraction: 295
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts x402@1.2.0 @x402/core@2.27.0 viem@2.57.20
cat >run.mjs <<'PROGRAM'
import { convertToTokenAmount } from "@x402/core/utils"
import assert from "node:assert/strict"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { createPaymentHeader } from "x402/client"
import { processPriceToAtomicAmount } from "x402/shared"
import { PaymentRequirementsSchema } from "x402/types"

const account = privateKeyToAccount(generatePrivateKey())
const amountOf = (price) => processPriceToAtomicAmount(price, "base").maxAmountRequired
const show = async (price, expected, isPayable) => {
  const { maxAmountRequired, asset } = processPriceToAtomicAmount(price, "base")
  const sale = { resource: "https://a.example/x", description: "", mimeType: "", maxTimeoutSeconds: 60, maxAmountRequired }
  const token = { network: "base", asset: asset.address, extra: asset.eip712 }
  const terms = { scheme: "exact", payTo: account.address, ...token, ...sale }
  const schema = PaymentRequirementsSchema.safeParse(terms).success ? "valid" : "invalid"
  const client = await createPaymentHeader(account, 1, terms).then(
    () => "signs",
    (error) => error.message
  )
  const core = convertToTokenAmount(price.slice(1), 6)
  console.log(`${price}: x402 ${maxAmountRequired}, schema ${schema}, client ${client}; @x402/core ${core}`)
  assert.equal(maxAmountRequired, expected)
  assert.deepEqual([schema, client === "signs"], [isPayable ? "valid" : "invalid", isPayable])
  assert.match(core, /^\d+$/)
}
await show("$0.01", "10000", true)
await show("$1.005", "1004999.9999999999", false)
await show("$2.01", "2009999.9999999998", false)
await show("$4.03", "4030000.0000000005", false)
await show("$8.20", "8199999.999999999", false)
const prices = Array.from({ length: 10_000 }, (_, index) => `$${((index + 1) / 100).toFixed(2)}`)
const { length } = prices.filter((price) => !/^\d+$/.test(amountOf(price)))
console.log(`prices from $0.01 to $100.00 with a fraction: ${length}`)
assert.equal(length, 295)
PROGRAM
node run.mjs
