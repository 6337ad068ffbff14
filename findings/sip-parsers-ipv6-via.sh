#!/usr/bin/env bash
# sip 0.0.6 and drachtio-srf 5.0.29 read the Via of a caller with an IPv6 address as the host "[2001", without port and branch.
#
# The branch names the transaction, so the answer that sip writes with this Via reaches nobody, and a repeated INVITE is a new
# call. drachtio-srf reads URIs with IPv6 addresses well, and its get("via") returns the whole field; sip reads no such URI. Read
# the field in the program, or let a proxy in front speak IPv6.
#
# Output:
#   SIP/2.0/UDP 192.0.2.1:5062;branch=z9hG4bK1: sip 192.0.2.1 5062 z9hG4bK1, drachtio-srf 192.0.2.1 5062 z9hG4bK1
#   SIP/2.0/UDP [2001:db8::1]:5062;branch=z9hG4bK1: sip [2001 undefined undefined, drachtio-srf [2001 undefined undefined
#   sip writes: Via: SIP/2.0/UDP [2001
#   sip:ada@[2001:db8::1]:5062: sip undefined, drachtio-srf [2001:db8::1] 5062
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund sip@0.0.6 drachtio-srf@5.0.29
cat >run.mjs <<'PROGRAM'
import Srf from "drachtio-srf"
import assert from "node:assert/strict"
import sip from "sip"

const request = (via) => {
  const fields = ["Max-Forwards: 70", "To: <sip:bob@example.com>", "From: <sip:ada@example.com>;tag=1", "Call-ID: 1"]
  const last = ["CSeq: 1 INVITE", "Content-Length: 0", "", ""]
  return ["INVITE sip:bob@example.com SIP/2.0", `Via: ${via}`, ...fields, ...last].join("\r\n")
}
const parts = ([{ host, params, port }]) => `${host} ${port} ${params.branch}`
const show = (via, expected) => {
  const read = [sip.parse(request(via)).headers.via, new Srf.SipMessage(request(via)).getParsedHeader("via")]
  const [one, two] = read.map(parts)
  console.log(`${via}: sip ${one}, drachtio-srf ${two}`)
  assert.deepEqual([one, two], [expected, expected])
}
show("SIP/2.0/UDP 192.0.2.1:5062;branch=z9hG4bK1", "192.0.2.1 5062 z9hG4bK1")
const via = "SIP/2.0/UDP [2001:db8::1]:5062;branch=z9hG4bK1"
show(via, "[2001 undefined undefined")
const [written] = /^Via:.*$/m.exec(sip.stringify(sip.parse(request(via))))
console.log(`sip writes: ${written.trim()}`)
assert.equal(written.trim(), "Via: SIP/2.0/UDP [2001")
const uri = "sip:ada@[2001:db8::1]:5062"
const { host, port } = Srf.parseUri(uri)
console.log(`${uri}: sip ${sip.parseUri(uri)}, drachtio-srf ${host} ${port}`)
assert.deepEqual([sip.parseUri(uri), host, port], [undefined, "[2001:db8::1]", 5062])
PROGRAM
node run.mjs
