#!/usr/bin/env bash
# ethers 6.17.0 writes keystores that web3-eth-accounts 4.3.1 and @ethereumjs/wallet 10.0.0 refuse with errors that do not tell why.
#
# The Web3 Secret Storage Definition, version 3, names the field `crypto`, in lower case. ethers writes `Crypto`. It reads both, so
# its own files pass. The others have an option that accepts any case, nonStrict, which is off.
#
# Output:
#   written by ethers, field Crypto: ethers reads it, web3-eth-accounts Web3ValidatorError, @ethereumjs/wallet TypeError
#   written by ethers, nonStrict: web3-eth-accounts reads it, @ethereumjs/wallet reads it
#   written by web3-eth-accounts, field crypto: ethers reads it, web3-eth-accounts reads it, @ethereumjs/wallet reads it
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ethers@6.17.0 web3-eth-accounts@4.3.1 @ethereumjs/wallet@10.0.0
cat >run.mjs <<'PROGRAM'
import { Wallet as V3 } from "@ethereumjs/wallet"
import { Wallet } from "ethers"
import assert from "node:assert/strict"
import { decrypt, encrypt } from "web3-eth-accounts"

const wallet = Wallet.createRandom()
const password = "correct horse"
const readers = {
  ethers: async (text) => (await Wallet.fromEncryptedJson(text, password)).address,
  "web3-eth-accounts": async (text, ...options) => (await decrypt(text, password, ...options.map((nonStrict) => ({ nonStrict })))).address,
  "@ethereumjs/wallet": async (text, ...options) => (await V3.fromV3(text, password, ...options)).getChecksumAddressString()
}
const show = async (label, text, expected, ...options) => {
  const seen = []
  for (const [name, outcome] of Object.entries(expected)) {
    const address = await readers[name](text, ...options).catch((error) => error.constructor.name)
    seen.push(`${name} ${address === wallet.address ? "reads it" : address}`)
    assert.equal(seen.at(-1), `${name} ${outcome}`)
  }
  console.log(`${label}: ${seen.join(", ")}`)
}
const fieldOf = (text) => Object.keys(JSON.parse(text)).find((name) => name.toLowerCase() === "crypto")
const byEthers = await new Wallet(wallet.privateKey).encrypt(password)
const byWeb3 = JSON.stringify(await encrypt(wallet.privateKey, password))
const read = "reads it"
const refused = { ethers: read, "web3-eth-accounts": "Web3ValidatorError", "@ethereumjs/wallet": "TypeError" }
await show(`written by ethers, field ${fieldOf(byEthers)}`, byEthers, refused)
await show("written by ethers, nonStrict", byEthers, { "web3-eth-accounts": read, "@ethereumjs/wallet": read }, true)
const all = { ethers: read, "web3-eth-accounts": read, "@ethereumjs/wallet": read }
await show(`written by web3-eth-accounts, field ${fieldOf(byWeb3)}`, byWeb3, all)
assert.deepEqual([fieldOf(byEthers), fieldOf(byWeb3)], ["Crypto", "crypto"])
PROGRAM
node run.mjs
