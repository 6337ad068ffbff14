#!/usr/bin/env bash
# @x402/axios 2.11.0 never pays through an axios instance that resolves a 402.
#
# The wrapper pays in the handler for errors, which axios calls only for a status that validateStatus refuses. Programs that check
# the status themselves set `validateStatus: () => true`, or a limit of 500. They get the 402 without an error or a warning.
# A payment needs a validateStatus that refuses 402.
#
# Output:
#   default: status 200, 1 payment sent
#   validateStatus: () => true: status 402, 0 payments sent
#   validateStatus: (status) => status < 500: status 402, 0 payments sent
#   validateStatus: (status) => status !== 402: status 200, 1 payment sent
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund @x402/axios@2.11.0 @x402/evm@2.11.0 @x402/core@2.11.0 axios@1.21.1 viem@2.57.20
cat >run.mjs <<'PROGRAM'
import { wrapAxiosWithPayment, x402Client } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import axios from "axios"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const terms = {
  scheme: "exact",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  amount: "1",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 60,
  extra: { name: "USD Coin", version: "2" }
}
const challenge = { x402Version: 2, resource: { url: "http://127.0.0.1/" }, accepts: [terms] }
const header = Buffer.from(JSON.stringify(challenge)).toString("base64")
let payments = 0
const server = createServer(({ headers }, response) => {
  const isPaid = headers["payment-signature"] !== undefined
  if (isPaid) payments += 1
  response.writeHead(isPaid ? 200 : 402, isPaid ? {} : { "payment-required": header }).end()
})
await once(server.listen(0, "127.0.0.1"), "listening")

const show = async (name, options, expected) => {
  payments = 0
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(generatePrivateKey())))
  const { status } = await wrapAxiosWithPayment(axios.create(options), client).get(`http://127.0.0.1:${server.address().port}/`)
  const seen = `status ${status}, ${payments} payment${payments === 1 ? "" : "s"} sent`
  console.log(`${name}: ${seen}`)
  assert.equal(seen, expected)
}
const [paid, unpaid] = ["status 200, 1 payment sent", "status 402, 0 payments sent"]
const checks = [
  [() => true, unpaid],
  [(status) => status < 500, unpaid],
  [(status) => status !== 402, paid]
]
await show("default", {}, paid)
for (const [validateStatus, expected] of checks) await show(`validateStatus: ${validateStatus}`, { validateStatus }, expected)
server.close()
PROGRAM
node run.mjs
