#!/usr/bin/env bash
# @x402/axios 2.2.0 stops paying in tokens that it paid in, when it is installed anew.
#
# It depends on @x402/core by a range, which npm fills with 2.27.0. That version has spend controls: it refuses every token that
# is not in its own list until they are set. A program with an exact version of @x402/axios and no lockfile changes its
# behavior. With @x402/core 2.2.0 the same program signs.
#
# Output:
#   @x402/axios 2.2.0 with @x402/core 2.2.0: signs
#   @x402/axios 2.2.0 with @x402/core 2.27.0: refuses by spendControls
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >run.mjs <<'PROGRAM'
import { x402Client } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const version = JSON.parse(readFileSync("node_modules/@x402/core/package.json", "utf8")).version
const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(generatePrivateKey())))
const accepts = [
  {
    scheme: "exact",
    network: "eip155:196",
    asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
    amount: "1",
    payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
    maxTimeoutSeconds: 60,
    extra: { name: "USDT0", version: "1" }
  }
]
const seen = await client.createPaymentPayload({ x402Version: 2, resource: { url: "https://seller.example/" }, accepts }).then(
  () => "signs",
  ({ message }) => (message.includes("spendControls") ? "refuses by spendControls" : message)
)
console.log(`@x402/axios 2.2.0 with @x402/core ${version}: ${seen}`)
assert.equal(seen, { "2.2.0": "signs", "2.27.0": "refuses by spendControls" }[version])
PROGRAM
for core in 2.2.0 2.27.0; do
  printf '{"type":"module","overrides":{"@x402/core":"%s"}}' $core >package.json
  rm -rf node_modules package-lock.json
  npm install --silent --no-audit --no-fund @x402/axios@2.2.0 @x402/evm@2.2.0 viem@2.41.2
  node run.mjs
done
