#!/usr/bin/env bash
# json-bigint 1.0.0 cannot read JSON with a fraction of more than 15 characters, if useNativeBigInt is set; if not, it makes an
# object of the fraction.
#
# It takes each number with more than 15 characters for a large one: JSON.stringify(1 / 3) has 18. With the option such a document
# does not parse at all, so one exchange rate or measured duration loses an answer with its amounts. Without the option,
# the fraction is a BigNumber, for which typeof says "object", and plus gives text. lossless-json 4.3.3 asks a function of the
# program for each number, and tells fractions from integers.
#
# Output:
#   {"rate":0.5}: native 0.5 (number), BigNumber 0.5 (number)
#   {"rate":0.3333333333333333}: native SyntaxError: Cannot convert 0.3333333333333333 to a BigInt, BigNumber 0.3333333333333333
#     (object), plus 1 "0.33333333333333331"
#   {"wei":1000000000000000000}: native 1000000000000000000 (bigint), BigNumber 1000000000000000000 (object)
#   lossless-json, {"rate":0.3333333333333333}: 0.3333333333333333 (number)
#   lossless-json, {"wei":1000000000000000000}: 1000000000000000000 (bigint)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund json-bigint@1.0.0 lossless-json@4.3.3
cat >run.mjs <<'PROGRAM'
import create from "json-bigint"
import { isInteger, parse } from "lossless-json"
import assert from "node:assert/strict"

const read = (json, parser) => {
  try {
    const [value] = Object.values(parser(json))
    return `${value} (${typeof value})`
  } catch (error) {
    return String(error)
  }
}
const native = create({ useNativeBigInt: true })
const show = (json, expected, note = "") => {
  const seen = [read(json, native.parse), read(json, create.parse)]
  console.log(`${json}: native ${seen[0]}, BigNumber ${seen[1]}${note}`)
  assert.deepEqual(seen, expected)
}
const rate = JSON.stringify({ rate: 1 / 3 })
show('{"rate":0.5}', ["0.5 (number)", "0.5 (number)"])
const refused = "SyntaxError: Cannot convert 0.3333333333333333 to a BigInt"
const sum = create.parse(rate).rate + 1
assert.equal(sum, "0.33333333333333331")
show(rate, [refused, "0.3333333333333333 (object)"], `, plus 1 ${JSON.stringify(sum)}`)
const wei = '{"wei":1000000000000000000}'
show(wei, ["1000000000000000000 (bigint)", "1000000000000000000 (object)"])
const numbers = (text) => (isInteger(text) ? BigInt(text) : Number(text))
for (const [json, expected] of [[rate, "0.3333333333333333 (number)"], [wei, "1000000000000000000 (bigint)"]]) {
  const seen = read(json, (text) => parse(text, undefined, numbers))
  console.log(`lossless-json, ${json}: ${seen}`)
  assert.equal(seen, expected)
}
PROGRAM
node run.mjs
