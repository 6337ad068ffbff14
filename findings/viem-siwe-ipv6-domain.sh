#!/usr/bin/env bash
# viem 2.57.20 neither writes nor reads a Sign-In with Ethereum message whose domain is an IPv6 address; siwe 3.0.0 does both.
#
# The domain of ERC-4361 is an authority of RFC 3986 without user information, and so may be an IP literal in brackets.
# createSiweMessage throws. parseSiweMessage throws nothing: its result lacks the domain and the address, and has the other
# fields. Wallets built on viem can't sign in to a server that is reached by such an address, for example on a developer's machine.
#
# Output:
#   siwe writes and reads: [2001:db8::7]:8402
#   viem writes: Invalid Sign-In with Ethereum message field "domain".
#   viem reads: chainId, issuedAt, nonce, uri, version
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund viem@2.57.20 siwe@3.0.0
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { SiweMessage } from "siwe"
import { createSiweMessage, parseSiweMessage } from "viem/siwe"

const fields = {
  domain: "[2001:db8::7]:8402",
  uri: "https://[2001:db8::7]:8402/",
  address: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
  chainId: 1,
  nonce: "abcdefgh12345678",
  version: "1"
}
const issuedAt = new Date("2026-11-01T10:00:00Z")
const show = (name, actual, expected) => {
  console.log(`${name}: ${actual}`)
  assert.equal(actual, expected)
}
const text = new SiweMessage({ ...fields, issuedAt: issuedAt.toISOString() }).prepareMessage()
show("siwe writes and reads", new SiweMessage(text).domain, fields.domain)
let refusal = "a message"
try {
  createSiweMessage({ ...fields, issuedAt })
} catch (error) {
  refusal = error.message.split("\n")[0]
}
show("viem writes", refusal, 'Invalid Sign-In with Ethereum message field "domain".')
show("viem reads", Object.keys(parseSiweMessage(text)).sort().join(", "), "chainId, issuedAt, nonce, uri, version")
PROGRAM
node run.mjs
