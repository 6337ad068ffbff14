#!/usr/bin/env bash
# mailauth 7.1.0 reports dmarc=fail with the policy reject for a mail whose key or SPF record could not be looked up.
#
# RFC 7489, section 6.6.2: if neither SPF nor DKIM passes, and one of them ended in a temporary error, a receiver can't conclude
# that DMARC failed, and can't apply the policy. Only a failed lookup of the policy itself gives temperror. A server that
# refuses mail by the result of DMARC alone refuses genuine mail for good while the sender's DNS does not answer. It has to read
# the results of SPF and DKIM too, and answer 451.
#
# Output:
#   every lookup succeeds: dkim=pass spf=fail dmarc=pass
#   SERVFAIL for the DKIM key: dkim=temperror spf=fail dmarc=fail policy=reject
#   SERVFAIL for SPF, not signed: dkim=none spf=temperror dmarc=fail policy=reject
#   SERVFAIL for the policy: dkim=pass spf=fail dmarc=temperror
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund mailauth@7.1.0
cat >run.mjs <<'PROGRAM'
import { authenticate, dkimSign } from "mailauth"
import assert from "node:assert/strict"
import { generateKeyPairSync } from "node:crypto"

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "der" }
})
const records = {
  "one._domainkey.a.example": `v=DKIM1; p=${publicKey.toString("base64")}`,
  "a.example": "v=spf1 ip4:192.0.2.1 -all",
  "_dmarc.a.example": "v=DMARC1; p=reject"
}
const mail = "From: ada@a.example\r\nTo: bob@b.example\r\nSubject: Hello\r\n\r\nHello\r\n"
const signatureData = [{ signingDomain: "a.example", selector: "one", privateKey }]
const signed = `${(await dkimSign(mail, { signatureData })).signatures}${mail}`

const show = async (name, message, ip, failing, expected) => {
  const resolver = async (domain, type) => {
    if (domain === failing) throw Object.assign(new Error(`query${type} ESERVFAIL ${domain}`), { code: "ESERVFAIL" })
    if (type === "TXT" && domain in records) return [[records[domain]]]
    throw Object.assign(new Error(`query${type} ENOTFOUND ${domain}`), { code: "ENOTFOUND" })
  }
  const envelope = { ip, helo: "a.example", sender: "ada@a.example", mta: "mx.b.example" }
  const { dkim, dmarc, spf } = await authenticate(message, { ...envelope, resolver })
  const policy = dmarc.status.result === "fail" ? ` policy=${dmarc.policy}` : ""
  const seen = `dkim=${dkim.results[0].status.result} spf=${spf.status.result} dmarc=${dmarc.status.result}${policy}`
  console.log(`${name}: ${seen}`)
  assert.equal(seen, expected)
}
// A forwarder's address, which SPF does not permit, and the sender's own.
const [forwarder, own] = ["192.0.2.2", "192.0.2.1"]
const [key, spf, policy] = Object.keys(records)
await show("every lookup succeeds", signed, forwarder, undefined, "dkim=pass spf=fail dmarc=pass")
await show("SERVFAIL for the DKIM key", signed, forwarder, key, "dkim=temperror spf=fail dmarc=fail policy=reject")
await show("SERVFAIL for SPF, not signed", mail, own, spf, "dkim=none spf=temperror dmarc=fail policy=reject")
await show("SERVFAIL for the policy", signed, forwarder, policy, "dkim=pass spf=fail dmarc=temperror")
PROGRAM
node run.mjs
