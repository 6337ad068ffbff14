#!/usr/bin/env bash
# @bankofai/x402 0.5.8 sends payments of scheme exact that no other seller of x402 version 2 can read.
#
# The specification of the scheme for EVM chains has the authorization in payload.authorization, and the signature with 0x. This
# client sends the authorization in extensions.transferAuthorization and the signature without 0x. It also ignores the
# token's name in extra, and signs for "Unknown Token" if its own list lacks the token, on every chain but TRON and BSC.
#
# Output:
#   payload: signature without 0x, no authorization
#   extensions: transferAuthorization
#   the name of the token, which extra states: not signed
#   "Unknown Token": signed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @bankofai/x402@0.5.8 @bankofai/agent-wallet@2.4.0 viem@2.57.20
cat >run.mjs <<'PROGRAM'
import { EnvWalletProvider } from "@bankofai/agent-wallet"
import { EvmClientSigner, ExactEvmClientMechanism, X402Client, X402FetchClient } from "@bankofai/x402"
import assert from "node:assert/strict"
import { createServer } from "node:http"
import { verifyTypedData } from "viem"
import { generatePrivateKey } from "viem/accounts"

const env = { AGENT_WALLET_PRIVATE_KEY: generatePrivateKey() }
const wallet = await new EnvWalletProvider({ network: "eip155", env }).getActiveWallet()
const address = await wallet.getAddress()
const signer = new EvmClientSigner(wallet)
signer.setAddress(address)
const terms = {
  scheme: "exact",
  network: "eip155:196",
  asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  amount: "1",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 60,
  extra: { name: "USDT0", version: "1" }
}
let payment
const server = createServer((request, response) => {
  const header = request.headers["payment-signature"]
  if (header !== undefined) {
    payment = JSON.parse(Buffer.from(header, "base64").toString())
    return response.end("{}")
  }
  const challenge = { x402Version: 2, resource: { url: `http://${request.headers.host}/` }, accepts: [terms] }
  response.writeHead(402, { "payment-required": Buffer.from(JSON.stringify(challenge)).toString("base64") }).end("{}")
})
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
const client = new X402Client().register("eip155:*", new ExactEvmClientMechanism(signer))
await new X402FetchClient(client).request(`http://127.0.0.1:${server.address().port}/`, { method: "GET" })

const { signature } = payment.payload
console.log(`payload: signature ${signature.startsWith("0x") ? "with" : "without"} 0x, ${"authorization" in payment.payload ? "an" : "no"} authorization`)
console.log(`extensions: ${Object.keys(payment.extensions).join(", ")}`)
const fields = "address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce"
const types = {
  TransferWithAuthorization: fields.split(",").map((field) => ({ type: field.split(" ")[0], name: field.split(" ")[1] }))
}
const isSignedFor = (name) =>
  verifyTypedData({
    address,
    domain: { name, version: "1", chainId: 196, verifyingContract: terms.asset },
    types,
    primaryType: "TransferWithAuthorization",
    message: payment.extensions.transferAuthorization,
    signature: `0x${signature}`
  })
const seen = [await isSignedFor("USDT0"), await isSignedFor("Unknown Token")].map((is) => (is ? "signed" : "not signed"))
console.log(`the name of the token, which extra states: ${seen[0]}`)
console.log(`"Unknown Token": ${seen[1]}`)
assert.deepEqual([signature.startsWith("0x"), "authorization" in payment.payload, ...seen], [false, false, "not signed", "signed"])
process.exit(0)
PROGRAM
node run.mjs
