#!/usr/bin/env bash
# viem 2.57.20 makes the 64-byte form of a signature, but does not verify it.
#
# EIP-2098 packs the parity into the highest bit of s. viem has functions for this form in both directions. Its verification takes
# the last byte for the recovery id all the same, and throws. ethers 6.17.0 and @metamask/eth-sig-util 9.0.0 recover the same
# address from both forms. A verifier on viem that gets signatures of other programs has to expand the form first.
#
# Output:
#   65 bytes: viem recovers the signer, ethers recovers the signer, eth-sig-util recovers the signer
#   64 bytes: viem throws "invalid signature length", ethers recovers the signer, eth-sig-util recovers the signer
#   64 bytes, expanded by viem: viem recovers the signer, ethers recovers the signer, eth-sig-util recovers the signer
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund viem@2.57.20 ethers@6.17.0 @metamask/eth-sig-util@9.0.0
cat >run.mjs <<'PROGRAM'
import { recoverTypedSignature } from "@metamask/eth-sig-util"
import { verifyTypedData } from "ethers"
import assert from "node:assert/strict"
import {
  getTypesForEIP712Domain,
  parseCompactSignature,
  compactSignatureToSignature,
  parseSignature,
  recoverTypedDataAddress,
  serializeCompactSignature,
  serializeSignature,
  signatureToCompactSignature
} from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const account = privateKeyToAccount(generatePrivateKey())
const domain = { name: "Token", version: "1", chainId: 196, verifyingContract: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736" }
const types = { Order: [{ name: "amount", type: "uint256" }] }
const message = { amount: "1" }
const typed = { domain, types, primaryType: "Order", message }
const data = { ...typed, types: { ...types, EIP712Domain: getTypesForEIP712Domain({ domain }) } }
const recoverers = {
  viem: (signature) => recoverTypedDataAddress({ ...typed, signature }),
  ethers: (signature) => verifyTypedData(domain, types, message, signature),
  "eth-sig-util": (signature) => recoverTypedSignature({ data, signature, version: "V4" })
}
const show = async (label, signature, viem) => {
  const seen = []
  for (const [name, recover] of Object.entries(recoverers)) {
    const outcome = await Promise.resolve(signature)
      .then(recover)
      .then(
        (address) => (address.toLowerCase() === account.address.toLowerCase() ? "recovers the signer" : "recovers another"),
        (error) => `throws "${error.message}"`
      )
    seen.push(`${name} ${outcome}`)
    assert.equal(outcome, name === "viem" ? viem : "recovers the signer")
  }
  console.log(`${label}: ${seen.join(", ")}`)
}
const signature = await account.signTypedData(typed)
const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
await show("65 bytes", signature, "recovers the signer")
await show("64 bytes", compact, 'throws "invalid signature length"')
const expanded = serializeSignature(compactSignatureToSignature(parseCompactSignature(compact)))
await show("64 bytes, expanded by viem", expanded, "recovers the signer")
PROGRAM
node run.mjs
