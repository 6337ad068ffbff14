#!/usr/bin/env bash
# uvd-x402-sdk 2.38.0: no client of @x402 can pay a seller that uses its middleware, whichever version of x402 it speaks.
#
# Terms are a list, accepts, of version 1 in the body and of version 2 in the header PAYMENT-REQUIRED. The README has the
# middleware as the fastest way to sell. It puts the fields of one entry into the body itself, and sends no header. Its
# create402Response does the same for version 2, and with further terms its list lacks the scheme of each.
#
# Output:
#   middleware: x402Version 1, accepts undefined, PAYMENT-REQUIRED null
#   x402-fetch: Cannot read properties of undefined (reading 'map')
#   create402Response: x402Version 2, accepts undefined, PAYMENT-REQUIRED null
#   @x402/fetch: Failed to parse payment requirements: Invalid payment required response
#   create402Response with more terms, scheme of each: undefined and undefined
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps uvd-x402-sdk@2.38.0 hono@4.13.19 x402-fetch@1.2.0 \
  @x402/fetch@2.27.0 @x402/evm@2.27.0 viem@2.57.20
cat >run.mjs <<'PROGRAM'
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { Hono } from "hono"
import assert from "node:assert/strict"
import { create402Response, createHonoMiddleware } from "uvd-x402-sdk"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { wrapFetchWithPayment } from "x402-fetch"

const account = privateKeyToAccount(generatePrivateKey())
const show = (label, seen, expected) => {
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const asset = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
const terms = { network: "base", asset, amount: "10000", payTo: account.address, extra: { name: "USD Coin", version: "2" } }
const seller = new Hono()
seller.use("/x", createHonoMiddleware({ accepts: [terms] }))
const request = { amount: "0.01", recipient: account.address, resource: "https://a.example/x", chainName: "base", x402Version: 2 }
seller.get("/y", () => {
  const { status, headers, body } = create402Response(request)
  return new Response(JSON.stringify(body), { status, headers })
})
const more = create402Response(request, { accepts: [{ ...terms, network: "eip155:8453" }] })
const send = async (input, init) => seller.request(new Request(input, init))
const pay = (fetch, path) =>
  fetch(`https://a.example${path}`).then(
    () => "answered",
    (error) => error.message
  )
const inspect = async (path) => {
  const response = await seller.request(path)
  const { x402Version, accepts } = await response.json()
  return `x402Version ${x402Version}, accepts ${typeof accepts}, PAYMENT-REQUIRED ${response.headers.get("payment-required")}`
}
show("middleware", await inspect("/x"), "x402Version 1, accepts undefined, PAYMENT-REQUIRED null")
show("x402-fetch", await pay(wrapFetchWithPayment(send, account), "/x"), "Cannot read properties of undefined (reading 'map')")
show("create402Response", await inspect("/y"), "x402Version 2, accepts undefined, PAYMENT-REQUIRED null")
const schemes = [{ network: "eip155:8453", client: new ExactEvmScheme(account) }]
const refusal = "Failed to parse payment requirements: Invalid payment required response"
show("@x402/fetch", await pay(wrapFetchWithPaymentFromConfig(send, { schemes }), "/y"), refusal)
const seen = more.body.accepts.map(({ scheme }) => String(scheme))
show("create402Response with more terms, scheme of each", seen.join(" and "), "undefined and undefined")
PROGRAM
node run.mjs
