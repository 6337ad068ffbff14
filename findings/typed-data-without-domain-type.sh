#!/usr/bin/env bash
# @trezor/connect-plugin-ethereum 9.1.5 and @metamask/eth-sig-util 9.0.0 hash typed data of x402 for a domain without fields.
#
# Typed data for eth_signTypedData_v4 names the fields of its domain in types.EIP712Domain. viem and ethers derive them, so programs
# that are written for these, such as @x402/evm 2.27.0, pass a signer types without that entry. The two packages then take it for
# empty: the name, the chain and the token are not in the hash, nothing is thrown, and the seller and the token refuse the payment.
# web3-eth-abi 4.4.1 throws. A signer on them has to add the entry.
#
# Output:
#   as @x402/evm passes it: EIP712Domain missing
#   without EIP712Domain: viem the same hash, ethers the same hash, ox the same hash, eth-sig-util another hash, trezor another hash, web3-eth-abi TypeError
#   with EIP712Domain: viem the same hash, ox the same hash, eth-sig-util the same hash, trezor the same hash, web3-eth-abi the same hash
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps @trezor/connect-plugin-ethereum@9.1.5 \
  @metamask/eth-sig-util@9.0.0 @x402/evm@2.27.0 ethers@6.17.0 ox@1.8.3 viem@2.57.20 web3-eth-abi@4.4.1
cat >run.mjs <<'PROGRAM'
import { TypedDataUtils } from "@metamask/eth-sig-util"
import trezor from "@trezor/connect-plugin-ethereum"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { TypedDataEncoder } from "ethers"
import assert from "node:assert/strict"
import { TypedData } from "ox"
import { concat, getTypesForEIP712Domain, hashTypedData, keccak256 } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { getEncodedEip712Data } from "web3-eth-abi"

const account = privateKeyToAccount(generatePrivateKey())
let typed
const signTypedData = (data) => account.signTypedData((typed = data))
await new ExactEvmScheme({ address: account.address, signTypedData }).createPaymentPayload(2, {
  scheme: "exact",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  amount: "1",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 60,
  extra: { name: "USD Coin", version: "2" }
})
const hashers = {
  viem: hashTypedData,
  ethers: ({ domain, message, types }) => TypedDataEncoder.hash(domain, types, message),
  ox: (data) => TypedData.getSignPayload(data),
  "eth-sig-util": (data) => `0x${Buffer.from(TypedDataUtils.eip712Hash(data, "V4")).toString("hex")}`,
  trezor: (data) => {
    const { domain_separator_hash: domain, message_hash: message } = (trezor.default ?? trezor)(data, true)
    return keccak256(concat(["0x1901", `0x${domain.replace(/^0x/, "")}`, `0x${message.replace(/^0x/, "")}`]))
  },
  "web3-eth-abi": (data) => getEncodedEip712Data(data, true)
}
const right = hashTypedData(typed)
const outcomeOf = (name, data) => {
  try {
    return hashers[name](data) === right ? "the same hash" : "another hash"
  } catch (error) {
    return error.constructor.name
  }
}
const show = (label, data, expected) => {
  const seen = Object.keys(expected).map((name) => [name, outcomeOf(name, data)])
  console.log(`${label}: ${seen.map((words) => words.join(" ")).join(", ")}`)
  assert.deepEqual(Object.fromEntries(seen), expected)
}
console.log(`as @x402/evm passes it: EIP712Domain ${"EIP712Domain" in typed.types ? "present" : "missing"}`)
assert.ok(!("EIP712Domain" in typed.types))
const same = "the same hash"
const other = "another hash"
const missing = { viem: same, ethers: same, ox: same, "eth-sig-util": other, trezor: other, "web3-eth-abi": "TypeError" }
show("without EIP712Domain", typed, missing)
const EIP712Domain = getTypesForEIP712Domain({ domain: typed.domain })
const present = { viem: same, ox: same, "eth-sig-util": same, trezor: same, "web3-eth-abi": same }
show("with EIP712Domain", { ...typed, types: { ...typed.types, EIP712Domain } }, present)
PROGRAM
node run.mjs
