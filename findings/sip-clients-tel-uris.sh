#!/usr/bin/env bash
# JsSIP 3.13.8 and SIP.js 0.21.2 ignore a call whose From, To or Contact has a tel: URI: no telephone rings, and nobody answers.
#
# Each of these fields may have any URI (RFC 3261, section 20), and networks of carriers write tel: URIs (RFC 3966). Their parsers
# return undefined for the whole request, so the caller waits for a timeout. They change URIs, too: a number's parameters, as in
# sip:+12125550100;ext=5@example.com, are escaped, which makes another URI, and the host becomes the address of maddr. A gateway
# in front of them has to write sip: URIs without parameters of numbers.
#
# Output:
#   From: <sip:+12125550100@example.com>;tag=1
#     JsSIP: INVITE, SIP.js: INVITE
#   From: <tel:+12125550100>;tag=1
#     JsSIP: undefined, SIP.js: undefined
#   sip:+12125550100;ext=5@example.com;user=phone
#     both write sip:+12125550100%3Bext%3D5@example.com;user=phone
#   sip:ada@example.com;maddr=192.0.2.1
#     both write sip:ada@192.0.2.1;maddr=192.0.2.1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund jssip@3.13.8 sip.js@0.21.2
cat >run.mjs <<'PROGRAM'
import parser from "jssip/lib/Parser.js"
import uris from "jssip/lib/URI.js"
import assert from "node:assert/strict"
import { Core, Grammar } from "sip.js"

const logger = { debug() {}, error() {}, log() {}, warn() {} }
const fields = [
  "INVITE sip:bob@example.com SIP/2.0",
  "Via: SIP/2.0/WSS a.example.com;branch=z9hG4bK1",
  "Max-Forwards: 70",
  "To: <sip:bob@example.com>",
  "Call-ID: 1",
  "CSeq: 1 INVITE",
  "Contact: <sip:ada@192.0.2.1>",
  "Content-Length: 0"
]
const show = (from, expected) => {
  const request = [...fields, from, "", ""].join("\r\n")
  const methods = [parser.parseMessage(request, { configuration: {} }), Core.Parser.parseMessage(request, logger)]
  const [jssip, sipjs] = methods.map((message) => message?.method)
  console.log(`${from}\n  JsSIP: ${jssip}, SIP.js: ${sipjs}`)
  assert.deepEqual([jssip, sipjs], [expected, expected])
}
show("From: <sip:+12125550100@example.com>;tag=1", "INVITE")
show("From: <tel:+12125550100>;tag=1", undefined)
const rewrite = (uri, expected) => {
  const written = [uris.parse(uri).toString(), Grammar.URIParse(uri).toString()]
  console.log(`${uri}\n  both write ${written[0]}`)
  assert.deepEqual(written, [expected, expected])
}
rewrite("sip:+12125550100;ext=5@example.com;user=phone", "sip:+12125550100%3Bext%3D5@example.com;user=phone")
rewrite("sip:ada@example.com;maddr=192.0.2.1", "sip:ada@192.0.2.1;maddr=192.0.2.1")
PROGRAM
node run.mjs
