#!/usr/bin/env bash
# @x402/fetch 2.0.0 and @faremeter/fetch 0.22.0 sign for a wrong token if its name is not ASCII.
#
# They decode the PAYMENT-REQUIRED header by atob, which returns one character for each byte of UTF-8. The name of USD₮0 becomes
# another one, and the signature covers it (EIP-712), so that every seller and the token refuse it. The payment shows no trace:
# btoa turns the characters into the same bytes again, and the seller reads its own terms. A seller cannot avoid it by
# escapes in the JSON: btoa then throws. @x402/fetch 2.27.0 signs for the name.
#
# Output:
#   @x402/fetch 2.0.0, "USDT0": accepted "USDT0", signed for it
#   @x402/fetch 2.0.0, "USD₮0": accepted "USD₮0", signed for another name
#   @x402/fetch 2.0.0, "USD₮0" with escapes: InvalidCharacterError
#   @x402/fetch 2.27.0, "USD₮0": accepted "USD₮0", signed for it
#   @faremeter/fetch 0.22.0, "USD₮0": accepted "USD₮0", signed for another name
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir old new faremeter
for name in old new faremeter; do echo '{"type":"module"}' >$name/package.json; done
(cd old && npm install --silent --no-audit --no-fund @x402/fetch@2.0.0 @x402/evm@2.0.0 viem@2.41.2)
(cd new && npm install --silent --no-audit --no-fund @x402/fetch@2.27.0 @x402/evm@2.27.0 viem@2.41.2)
(cd faremeter && npm install --silent --no-audit --no-fund @faremeter/fetch@0.22.0 @faremeter/payment-evm@0.22.0 viem@2.41.2)
for name in old new; do
  cat >$name/client.mjs <<'PROGRAM'
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
export const payingFetch = (account) => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(account))
  client.setSpendControls?.(false)
  return wrapFetchWithPayment(fetch, client)
}
PROGRAM
done
cat >faremeter/client.mjs <<'PROGRAM'
import { wrap } from "@faremeter/fetch"
import { createPaymentHandler } from "@faremeter/payment-evm/exact"
export const payingFetch = (account, { asset }) => {
  const wallet = { chain: { id: 196, name: "chain" }, address: account.address, account }
  const token = { address: asset, contractName: "token", forwarder: "", forwarderName: "", forwarderVersion: "" }
  return wrap(fetch, { handlers: [createPaymentHandler(wallet, { asset: token })] })
}
PROGRAM
cat >new/run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { createServer } from "node:http"
import { verifyTypedData } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const account = privateKeyToAccount(generatePrivateKey())
const types = {
  TransferWithAuthorization: ["address from", "address to", "uint256 value", "uint256 validAfter", "uint256 validBefore", "bytes32 nonce"].map(
    (field) => ({ type: field.split(" ")[0], name: field.split(" ")[1] })
  )
}
const terms = (name) => ({
  scheme: "exact",
  network: "eip155:196",
  asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  amount: "1",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 60,
  extra: { name, version: "1" }
})
const show = async (folder, client, name, isEscaped, expected) => {
  let seen = ""
  const server = createServer(async (request, response) => {
    const header = request.headers["payment-signature"]
    if (header === undefined) {
      const challenge = JSON.stringify({ x402Version: 2, resource: { url: `http://${request.headers.host}/` }, accepts: [terms(name)] })
      const text = isEscaped ? challenge.replaceAll("\u20ae", "\\u20ae") : challenge
      return response.writeHead(402, { "payment-required": Buffer.from(text).toString("base64") }).end("{}")
    }
    const { accepted, payload } = JSON.parse(Buffer.from(header, "base64").toString())
    const { authorization, signature } = payload
    const domain = { name, version: "1", chainId: 196, verifyingContract: terms(name).asset }
    const message = { ...authorization }
    const isSigned = await verifyTypedData({ address: account.address, domain, types, primaryType: "TransferWithAuthorization", message, signature })
    seen = `accepted "${accepted.extra.name}", signed for ${isSigned ? "it" : "another name"}`
    response.end("{}")
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { payingFetch } = await import(`../${folder}/client.mjs`)
  try {
    await payingFetch(account, terms(name))(`http://127.0.0.1:${server.address().port}/`, { method: "GET" })
  } catch (error) {
    seen = error.cause?.name ?? error.name
  }
  server.close()
  console.log(`${client}, "${name}"${isEscaped ? " with escapes" : ""}: ${seen}`)
  assert.equal(seen, expected)
}
await show("old", "@x402/fetch 2.0.0", "USDT0", false, 'accepted "USDT0", signed for it')
await show("old", "@x402/fetch 2.0.0", "USD₮0", false, 'accepted "USD₮0", signed for another name')
await show("old", "@x402/fetch 2.0.0", "USD₮0", true, "InvalidCharacterError")
await show("new", "@x402/fetch 2.27.0", "USD₮0", false, 'accepted "USD₮0", signed for it')
await show("faremeter", "@faremeter/fetch 0.22.0", "USD₮0", false, 'accepted "USD₮0", signed for another name')
process.exit(0)
PROGRAM
node new/run.mjs
