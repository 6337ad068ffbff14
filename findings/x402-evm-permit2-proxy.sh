#!/usr/bin/env bash
# @x402/evm 2.3 and 2.4 sign Permit2 payments for another proxy than 2.5 and later.
#
# The signature names the contract that may spend it. Both versions call it x402ExactPermit2Proxy, so a payment of an older
# client can't be settled through the contract that newer facilitators call. Versions up to 2.2 have no Permit2.
#
# Output:
#   @x402/evm 2.3.0: 0x4020615294c913F045dc10f0a5cdEbd86c280001
#   @x402/evm 2.4.0: 0x4020615294c913F045dc10f0a5cdEbd86c280001
#   @x402/evm 2.5.0: 0x402085c248EeA27D92E8b30b2C58ed07f9E20001
#   @x402/evm 2.27.0: 0x402085c248EeA27D92E8b30b2C58ed07f9E20001
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >run.mjs <<'PROGRAM'
import { ExactEvmScheme } from "@x402/evm/exact/client"
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const version = JSON.parse(readFileSync("node_modules/@x402/evm/package.json", "utf8")).version
const scheme = new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()))
const { payload } = await scheme.createPaymentPayload(2, {
  scheme: "exact",
  network: "eip155:1",
  asset: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
  amount: "1",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 60,
  extra: { name: "Tether USD", assetTransferMethod: "permit2" }
})
const { spender } = payload.permit2Authorization
console.log(`@x402/evm ${version}: ${spender}`)
const isOlder = ["2.3.0", "2.4.0"].includes(version)
assert.equal(spender, isOlder ? "0x4020615294c913F045dc10f0a5cdEbd86c280001" : "0x402085c248EeA27D92E8b30b2C58ed07f9E20001")
PROGRAM
for version in 2.3.0 2.4.0 2.5.0 2.27.0; do
  rm -rf node_modules package.json package-lock.json
  npm install --silent --no-audit --no-fund "@x402/evm@$version" viem@2.57.20 >/dev/null
  node run.mjs
done
