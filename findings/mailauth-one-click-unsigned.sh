#!/usr/bin/env bash
# mailauth 7.1.0 signs List-Unsubscribe by default, but not List-Unsubscribe-Post.
#
# RFC 8058, section 4, requires a DKIM signature that covers both, and a receiver that follows it offers no one-click button without
# one. The signature is valid, so checks of DKIM show no problem. nodemailer 10.6.1 signs both. The option `headerList` of
# mailauth replaces its list instead of adding to it, so it has to name all fields to sign.
#
# Output:
#   mailauth signs: list-unsubscribe
#   mailauth with headerList signs: list-unsubscribe, list-unsubscribe-post
#   nodemailer signs: list-unsubscribe, list-unsubscribe-post
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund mailauth@7.1.0 nodemailer@10.6.1
cat >run.mjs <<'PROGRAM'
import { dkimSign, dkimVerify } from "mailauth"
import assert from "node:assert/strict"
import { generateKeyPairSync } from "node:crypto"
import { createTransport } from "nodemailer"

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "der" }
})
const resolver = async () => [[`v=DKIM1; p=${publicKey.toString("base64")}`]]
const write = async (options) => {
  const transport = createTransport({ streamTransport: true, buffer: true, ...options })
  const list = { unsubscribe: { url: "https://a.example/unsubscribe" } }
  const headers = { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }
  const mail = { from: "ada@a.example", to: "bob@b.example", subject: "News", text: "News", list, headers }
  return (await transport.sendMail(mail)).message.toString()
}
const sign = async (options) => {
  const message = await write({})
  const signatureData = [{ signingDomain: "a.example", selector: "one", privateKey }]
  return `${(await dkimSign(message, { signatureData, ...options })).signatures}${message}`
}
const show = async (name, message, expected) => {
  const [{ signingHeaders, status }] = (await dkimVerify(message, { resolver })).results
  assert.equal(status.result, "pass")
  const names = signingHeaders.keys.toLowerCase().split(/\s*:\s*/)
  const seen = names.filter((field) => field.startsWith("list-unsubscribe")).sort().join(", ")
  console.log(`${name}: ${seen}`)
  assert.equal(seen, expected)
}
const both = ["list-unsubscribe", "list-unsubscribe-post"]
await show("mailauth signs", await sign({}), "list-unsubscribe")
await show("mailauth with headerList signs", await sign({ headerList: ["from", "subject", "to", ...both] }), both.join(", "))
const dkim = { domainName: "a.example", keySelector: "one", privateKey }
await show("nodemailer signs", await write({ dkim }), both.join(", "))
PROGRAM
node run.mjs
