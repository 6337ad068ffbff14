#!/usr/bin/env bash
# eth-url-parser 1.0.4 returns amounts from 10^21 on in a form that BigInt does not read.
#
# A payment link (EIP-681) has its amount in base units, or as a number with an exponent. The package returns it as text, so that it
# can be larger than a number of JavaScript. From 22 digits on, the text has an exponent itself. That is 1,000 tokens of 18
# decimals, as USDT has on BNB Chain; links to tokens of 6 decimals never show it. No digit is lost: bignumber.js reads the text.
#
# Output:
#   999 tokens: "999000000000000000000", BigInt reads 999000000000000000000
#   1000 tokens: "1e+21", BigInt throws SyntaxError
#   1234567.890123456789012345 tokens: "1.234567890123456789012345e+24", BigInt throws SyntaxError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund eth-url-parser@1.0.4
cat >run.mjs <<'PROGRAM'
import { parse } from "eth-url-parser"
import assert from "node:assert/strict"

const show = (tokens, amount, expected) => {
  const token = "0x55d398326f99059fF775485246999027B3197955@56"
  const payee = "0x857b06519E91e3A54538791bDbb0E22373e36b66"
  const text = parse(`ethereum:${token}/transfer?address=${payee}&uint256=${amount}`).parameters.uint256
  let seen
  try {
    seen = `reads ${BigInt(text)}`
  } catch (error) {
    seen = `throws ${error.name}`
  }
  console.log(`${tokens} tokens: ${JSON.stringify(text)}, BigInt ${seen}`)
  assert.deepEqual([text, seen], expected)
}
show("999", "999000000000000000000", ["999000000000000000000", "reads 999000000000000000000"])
show("1000", "1000000000000000000000", ["1e+21", "throws SyntaxError"])
const odd = "1234567890123456789012345"
show("1234567.890123456789012345", odd, ["1.234567890123456789012345e+24", "throws SyntaxError"])
PROGRAM
node run.mjs
