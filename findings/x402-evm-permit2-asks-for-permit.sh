#!/usr/bin/env bash
# @x402/evm 2.27.0 can't pay by Permit2 with a token that has no permits, if the challenge offers sponsored gas and a version.
#
# The extension eip2612GasSponsoring belongs to the whole challenge, not to one of its tokens. If it is there, and the terms have
# the name and the version of the token's EIP-712 domain, the client reads the token's nonce for an EIP-2612 permit. A token
# without permits reverts, and the payment fails, though the wallet could pay by an allowance that it has or that others give it.
# A seller of several tokens must leave out the version of those without permits, which a Permit2 payment does not need.
#
# Output:
#   token with permits, name and version: signed, with a permit
#   token without permits, name and version: Error: execution reverted
#   token without permits, name alone: signed, without a permit
#   token without permits, name and version, no extension: signed, without a permit
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund @x402/evm@2.27.0 @x402/core@2.27.0 viem@2.57.20
cat >run.mjs <<'PROGRAM'
import { x402Client } from "@x402/core/client"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import assert from "node:assert/strict"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const account = privateKeyToAccount(generatePrivateKey())
const extensions = { eip2612GasSponsoring: { info: { description: "Permits", version: "1" }, schema: {} } }

const show = async (label, hasPermits, extra, more, expected) => {
  const signer = {
    address: account.address,
    signTypedData: (typed) => account.signTypedData(typed),
    readContract: async ({ functionName }) => {
      if (functionName === "allowance" || (functionName === "nonces" && hasPermits)) return 0n
      throw new Error("execution reverted")
    }
  }
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(signer))
  client.setSpendControls(false)
  const terms = {
    scheme: "exact",
    network: "eip155:1",
    asset: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
    amount: "1",
    payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: "permit2", ...extra }
  }
  const challenge = { x402Version: 2, resource: { url: "http://127.0.0.1/" }, accepts: [terms], ...more }
  const seen = await client.createPaymentPayload(challenge).then(
    (payment) => `signed, ${payment.extensions?.eip2612GasSponsoring?.info?.signature ? "with" : "without"} a permit`,
    (error) => `${error.constructor.name}: ${error.message}`
  )
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const name = "Token"
const version = "1"
await show("token with permits, name and version", true, { name, version }, { extensions }, "signed, with a permit")
await show("token without permits, name and version", false, { name, version }, { extensions }, "Error: execution reverted")
await show("token without permits, name alone", false, { name }, { extensions }, "signed, without a permit")
await show("token without permits, name and version, no extension", false, { name, version }, {}, "signed, without a permit")
PROGRAM
node run.mjs
