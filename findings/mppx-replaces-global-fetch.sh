#!/usr/bin/env bash
# mppx 0.11.0: creating a client changes every 402 in the process.
#
# Mppx.create replaces globalThis.fetch unless it is told not to (polyfill: false). The new fetch rejects an answer of 402 whose
# challenge is not for mppx, instead of returning it. So another payment client in the same process, for example one of x402,
# never sees its own challenge.
#
# Output:
#   before Mppx.create: the answer has status 402
#   after Mppx.create: fetch rejects
#   with polyfill: false: the answer has status 402
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --legacy-peer-deps mppx@0.11.0 viem@2.57.20
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { createServer } from "node:http"
import { once } from "node:events"
import { Mppx, tempo } from "mppx/client"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const challenge = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [] })).toString("base64")
const server = createServer((_, response) => response.writeHead(402, { "payment-required": challenge }).end())
await once(server.listen(0, "127.0.0.1"), "listening")
const url = `http://127.0.0.1:${server.address().port}/`
const seen = () =>
  fetch(url).then(
    ({ status }) => `the answer has status ${status}`,
    () => "fetch rejects"
  )
const expected = (name, actual, wanted) => {
  console.log(`${name}: ${actual}`)
  assert.equal(actual, wanted)
}
const methods = [tempo({ account: privateKeyToAccount(generatePrivateKey()) })]
const original = globalThis.fetch
expected("before Mppx.create", await seen(), "the answer has status 402")
Mppx.create({ methods })
expected("after Mppx.create", await seen(), "fetch rejects")
globalThis.fetch = original
Mppx.create({ methods, polyfill: false })
expected("with polyfill: false", await seen(), "the answer has status 402")
server.close()
PROGRAM
node run.mjs
