#!/usr/bin/env bash
# The facilitator of @x402/evm 2.27.0 reports a wrong signature for a payment whose addresses are written in capitals.
#
# An EIP-712 signature covers the bytes of an address, not its letters, and ethers recovers the signer of such a payment. An address
# in capitals has no checksum (EIP-55). viem's hashTypedData refuses it, and the facilitator reports the error as a signature that
# does not match. The same letters are accepted in the token and the payee of the terms. A client has to write the addresses
# of the authorization in lower case or with their checksum.
#
# Output:
#   as signed: valid
#   from in lower case: valid
#   from in capitals: invalid_exact_evm_signature, but ethers recovers the payer
#   to in capitals: invalid_exact_evm_signature, but ethers recovers the payer
#   asset and payTo of the terms in capitals: valid
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund @x402/evm@2.27.0 @x402/core@2.27.0 viem@2.57.20 ethers@6.17.0
cat >run.mjs <<'PROGRAM'
import { ExactEvmScheme as Client } from "@x402/evm/exact/client"
import { ExactEvmScheme as Facilitator } from "@x402/evm/exact/facilitator"
import { authorizationTypes } from "@x402/evm"
import { verifyTypedData } from "ethers"
import assert from "node:assert/strict"
import { privateKeyToAccount } from "viem/accounts"

const account = privateKeyToAccount(`0x${"1".padStart(64, "0")}`)
const terms = {
  scheme: "exact",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  amount: "1",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 60,
  extra: { name: "USD Coin", version: "2" }
}
const { payload } = await new Client(account).createPaymentPayload(2, terms)
// A chain on which the token has code, the payer has none, and the transfer succeeds.
const facilitator = new Facilitator({
  getAddresses: () => [account.address],
  getCode: async ({ address }) => (address.toLowerCase() === account.address.toLowerCase() ? "0x" : "0x60"),
  readContract: async () => true
})
const domain = { ...terms.extra, chainId: 8453, verifyingContract: terms.asset }
const capitals = (address) => `0x${address.slice(2).toUpperCase()}`

const show = async (name, expected, changes, termsChanges) => {
  const accepted = { ...terms, ...termsChanges }
  const authorization = { ...payload.authorization, ...changes }
  const payment = { x402Version: 2, accepted, payload: { ...payload, authorization } }
  const { invalidReason } = await facilitator.verify(payment, accepted)
  assert.equal(verifyTypedData(domain, authorizationTypes, authorization, payload.signature), account.address)
  const seen = invalidReason === undefined ? "valid" : `${invalidReason}, but ethers recovers the payer`
  console.log(`${name}: ${seen}`)
  assert.equal(seen, expected)
}
const { from, to } = payload.authorization
const refused = "invalid_exact_evm_signature, but ethers recovers the payer"
await show("as signed", "valid")
await show("from in lower case", "valid", { from: from.toLowerCase() })
await show("from in capitals", refused, { from: capitals(from) })
await show("to in capitals", refused, { to: capitals(to) })
const shouted = { asset: capitals(terms.asset), payTo: capitals(terms.payTo) }
await show("asset and payTo of the terms in capitals", "valid", {}, shouted)
PROGRAM
node run.mjs
