#!/usr/bin/env bash
# x402-fetch 1.2.0 repeats a request with its payment, but without the caller's headers, if they are in a Headers object or a
# list.
#
# Both are forms of the Fetch standard, and many programs wrap fetch with a Headers object. The first request has the headers,
# and is answered with 402. The paid one lacks Authorization, Content-Type and Idempotency-Key: the seller may refuse it after
# the payment, or charge a repetition again. A Request with a body fails before the payment, as it does with @faremeter/fetch
# 0.22.0. @x402/fetch 2.27.0 sends all of them.
#
# Output:
#   Idempotency-Key of the paid request
#   an object: x402-fetch k1, @faremeter/fetch k1, @x402/fetch k1
#   a Headers object: x402-fetch none, @faremeter/fetch k1, @x402/fetch k1
#   a list: x402-fetch none, @faremeter/fetch k1, @x402/fetch k1
#   a Request: x402-fetch no payment, @faremeter/fetch no payment, @x402/fetch k1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps x402-fetch@1.2.0 @x402/fetch@2.27.0 @x402/evm@2.27.0 \
  @faremeter/fetch@0.22.0 @faremeter/payment-evm@0.22.0 @faremeter/info@0.22.0 viem@2.57.20
cat >run.mjs <<'PROGRAM'
import { wrap } from "@faremeter/fetch"
import { createPaymentHandler } from "@faremeter/payment-evm/exact"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import assert from "node:assert/strict"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { wrapFetchWithPayment } from "x402-fetch"

const account = privateKeyToAccount(generatePrivateKey())
const asset = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
const token = { asset, payTo: account.address, maxTimeoutSeconds: 60, extra: { name: "USD Coin", version: "2" } }
const first = { scheme: "exact", network: "base", maxAmountRequired: "1", resource: "https://a.example/x", description: "", mimeType: "" }
const older = { x402Version: 1, error: "", accepts: [{ ...first, ...token }] }
const accepts = [{ scheme: "exact", network: "eip155:8453", amount: "1", ...token }]
const newer = { x402Version: 2, resource: { url: "https://a.example/x", description: "", mimeType: "" }, accepts }
const required = Buffer.from(JSON.stringify(newer)).toString("base64")
let received
const seller = async (input, init) => {
  const request = new Request(input, init)
  const isPaid = request.headers.has("x-payment") || request.headers.has("payment-signature")
  if (isPaid) received = request.headers.get("idempotency-key") ?? "none"
  if (isPaid) return new Response("ok")
  return Response.json(older, { status: 402, headers: request.headers.has("newer") ? { "payment-required": required } : {} })
}
const schemes = [{ network: "eip155:8453", client: new ExactEvmScheme(account) }]
const wallet = { chain: { id: 8453, name: "Base" }, address: account.address, account }
const handler = createPaymentHandler({ ...wallet, signTypedData: (data) => account.signTypedData(data) }, {})
const newerSeller = (input, init) => {
  const request = new Request(input, init)
  request.headers.set("newer", "1")
  return seller(request)
}
const clients = {
  "x402-fetch": wrapFetchWithPayment(seller, account),
  "@faremeter/fetch": wrap(seller, { phase1Fetch: seller, handlers: [handler] }),
  "@x402/fetch": wrapFetchWithPaymentFromConfig(newerSeller, { schemes })
}
const url = "https://a.example/x"
const headers = { "idempotency-key": "k1" }
const show = async (label, argumentsOf, ...expected) => {
  const seen = []
  for (const client of Object.values(clients)) {
    received = "no payment"
    await client(...argumentsOf()).catch(() => {})
    seen.push(received)
  }
  console.log(`${label}: ${Object.keys(clients).map((name, at) => `${name} ${seen[at]}`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
console.log("Idempotency-Key of the paid request")
await show("an object", () => [url, { method: "POST", body: "x", headers }], "k1", "k1", "k1")
await show("a Headers object", () => [url, { method: "POST", body: "x", headers: new Headers(headers) }], "none", "k1", "k1")
await show("a list", () => [url, { method: "POST", body: "x", headers: Object.entries(headers) }], "none", "k1", "k1")
await show("a Request", () => [new Request(url, { method: "POST", body: "x", headers })], "no payment", "no payment", "k1")
PROGRAM
node run.mjs
