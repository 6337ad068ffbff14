#!/usr/bin/env bash
# drachtio-srf 5.0.29 returns no calling or called number, if the network states it in a tel: URI.
#
# Carriers assert the number of a caller as <tel:+12125550100> (RFC 3325, section 9.1). callingNumber then is "", also if From has
# the number in a sip: URI, so the call looks anonymous. A name without quotation marks, or with an escaped one, is "" too. Read
# the fields of the request, where an empty number does not mean that the caller hides it.
#
# Output:
#   From: "Ada" <sip:+12125550100@example.com>: number "+12125550100", name "Ada"
#   From: <tel:+12125550100>: number "", name ""
#   From: <sip:+12125550100@example.com>, P-Asserted-Identity: <tel:+12125550100>: number "", name ""
#   From: Ada <sip:+12125550100@example.com>: number "+12125550100", name ""
#   INVITE tel:+12125550101: called number ""
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund drachtio-srf@5.0.29
cat >run.mjs <<'PROGRAM'
import Srf from "drachtio-srf"
import assert from "node:assert/strict"

const request = (fields, target = "sip:bob@example.com") => {
  const others = ["Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1", "To: <sip:bob@example.com>", "Call-ID: 1", "CSeq: 1 INVITE"]
  return new Srf.SipMessage([`INVITE ${target} SIP/2.0`, ...others, ...fields, "Content-Length: 0", "", ""].join("\r\n"))
}
const show = (fields, number, name) => {
  const { callingName, callingNumber } = request(fields.map((field) => (field.startsWith("From") ? `${field};tag=1` : field)))
  console.log(`${fields.join(", ")}: number "${callingNumber}", name "${callingName}"`)
  assert.deepEqual([callingNumber, callingName], [number, name])
}
show(['From: "Ada" <sip:+12125550100@example.com>'], "+12125550100", "Ada")
show(["From: <tel:+12125550100>"], "", "")
show(["From: <sip:+12125550100@example.com>", "P-Asserted-Identity: <tel:+12125550100>"], "", "")
show(["From: Ada <sip:+12125550100@example.com>"], "+12125550100", "")
const { calledNumber } = request(["From: <sip:ada@example.com>;tag=1"], "tel:+12125550101")
console.log(`INVITE tel:+12125550101: called number "${calledNumber}"`)
assert.equal(calledNumber, "")
PROGRAM
node run.mjs
