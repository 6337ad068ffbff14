#!/usr/bin/env bash
# ethers 6.17.0 cannot open keystores of web3-eth-accounts 4.3.1 and @ethereumjs/wallet 10.0.0, nor they its, for some
# passwords.
#
# The Web3 Secret Storage Definition derives the key from the bytes of the password. ethers normalizes the password first
# (NFKC), the others do not. So "m²" is another password there, and so are an accent in a form of its own, as macOS may type it,
# a letter of full width and a space that does not break. The error says that the password is wrong. ethers opens the files if
# it gets the bytes of the password in place of the text.
#
# Output:
#   horse, of ethers: web3-eth-accounts opens, @ethereumjs/wallet opens
#   horse, of web3-eth-accounts: ethers opens, ethers with bytes opens
#   café, one letter, of ethers: web3-eth-accounts opens, @ethereumjs/wallet opens
#   café, one letter, of web3-eth-accounts: ethers opens, ethers with bytes opens
#   café, accent of its own, of ethers: web3-eth-accounts wrong password, @ethereumjs/wallet wrong password
#   café, accent of its own, of web3-eth-accounts: ethers wrong password, ethers with bytes opens
#   m², of ethers: web3-eth-accounts wrong password, @ethereumjs/wallet wrong password
#   m², of web3-eth-accounts: ethers wrong password, ethers with bytes opens
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ethers@6.17.0 web3-eth-accounts@4.3.1 @ethereumjs/wallet@10.0.0
cat >run.mjs <<'PROGRAM'
import { Wallet as Other } from "@ethereumjs/wallet"
import { decryptKeystoreJson, encryptKeystoreJson, toUtf8Bytes, Wallet } from "ethers"
import assert from "node:assert/strict"
import * as web3 from "web3-eth-accounts"

const { address, privateKey } = Wallet.createRandom()
const opens = (promise) =>
  promise.then(
    () => "opens",
    () => "wrong password"
  )
const show = async (label, password, expected) => {
  const scrypt = { N: 1024, r: 8, p: 1 }
  const { Crypto, ...file } = JSON.parse(await encryptKeystoreJson({ address, privateKey }, password, { scrypt }))
  const written = JSON.stringify(await web3.encrypt(privateKey, password, { kdf: "scrypt", n: 1024, r: 8, p: 1 }))
  const seen = [
    await opens(web3.decrypt({ ...file, crypto: Crypto }, password)),
    await opens(Other.fromV3({ ...file, crypto: Crypto }, password)),
    await opens(decryptKeystoreJson(written, password)),
    await opens(decryptKeystoreJson(written, toUtf8Bytes(password)))
  ]
  console.log(`${label}, of ethers: web3-eth-accounts ${seen[0]}, @ethereumjs/wallet ${seen[1]}`)
  console.log(`${label}, of web3-eth-accounts: ethers ${seen[2]}, ethers with bytes ${seen[3]}`)
  assert.deepEqual(seen, [expected, expected, expected, "opens"])
}
await show("horse", "horse", "opens")
await show("café, one letter", "caf\u00e9", "opens")
await show("café, accent of its own", "cafe\u0301", "wrong password")
await show("m²", "m²", "wrong password")
PROGRAM
node run.mjs
