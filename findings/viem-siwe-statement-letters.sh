#!/usr/bin/env bash
# viem 2.57.20 writes Sign-In with Ethereum messages that siwe 3.0.0 refuses, if the statement has a quotation mark or a percent
# sign.
#
# ERC-4361 allows only the characters of URIs and spaces in a statement. createSiweMessage checks the domain, the nonce and the
# URI, but takes any statement of one line. The user signs it, and the server refuses the message with an error about lines. The
# same holds for < > \ ^ ` { | } and for every character beyond ASCII, such as the apostrophe of word processors.
#
# Output:
#   I accept the terms, it's $5.: viem writes and reads it, siwe reads it
#   I accept the "terms".: viem writes and reads it, siwe refuses it
#   I pay 5% more.: viem writes and reads it, siwe refuses it
#   I accept the terms, it’s $5.: viem writes and reads it, siwe refuses it
#   refused characters of ASCII: " % < > \ ^ ` { | }
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund viem@2.57.20 siwe@3.0.0 ethers@6.17.0
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { SiweMessage } from "siwe"
import { createSiweMessage, parseSiweMessage } from "viem/siwe"

const message = { domain: "a.example", uri: "https://a.example", version: "1", chainId: 8453, nonce: "abcdefgh12345678" }
const address = "0x857b06519E91e3A54538791bDbb0E22373e36b66"
const outcome = (statement) => {
  const written = createSiweMessage({ ...message, address, statement })
  assert.equal(parseSiweMessage(written).statement, statement)
  try {
    return new SiweMessage(written).statement === statement ? "reads it" : "reads another"
  } catch {
    return "refuses it"
  }
}
const show = (statement, expected) => {
  const seen = outcome(statement)
  console.log(`${statement}: viem writes and reads it, siwe ${seen}`)
  assert.equal(seen, expected)
}
show("I accept the terms, it's $5.", "reads it")
show('I accept the "terms".', "refuses it")
show("I pay 5% more.", "refuses it")
show("I accept the terms, it’s $5.", "refuses it")
const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))
const refused = ascii.filter((each) => outcome(`a${each}b`) === "refuses it").join(" ")
console.log(`refused characters of ASCII: ${refused}`)
assert.equal(refused, '" % < > \\ ^ ` { | }')
PROGRAM
node run.mjs
