#!/usr/bin/env bash
# JsSIP 3.13.8 and SIP.js 0.21.2 cannot register with a server that offers MD5 and then SHA-256, though they know MD5.
#
# A server writes one challenge for each algorithm, in the order that it prefers, and a client uses the first one that it knows
# (RFC 8760, section 2.3). Both read the last one alone, report a failed authentication without a second request, and a person
# looks for a wrong password. A server that adds SHA-256 has to write it before MD5, which they then find by chance.
#
# Output:
#   MD5: JsSIP answers, SIP.js answers
#   SHA-256, MD5: JsSIP answers, SIP.js answers
#   MD5, SHA-256: JsSIP gives up, SIP.js gives up
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund jssip@3.13.8 sip.js@0.21.2
cat >run.mjs <<'PROGRAM'
import Digest from "jssip/lib/DigestAuthentication.js"
import parser from "jssip/lib/Parser.js"
import assert from "node:assert/strict"
import { Core } from "sip.js"

const logger = { debug() {}, error() {}, log() {}, warn() {} }
const loggerFactory = { getLogger: () => logger }
const show = (algorithms, expected) => {
  const challenges = algorithms.map((name) => `WWW-Authenticate: Digest realm="example.com", nonce="${name}", algorithm=${name}`)
  const response = [
    "SIP/2.0 401 Unauthorized",
    "Via: SIP/2.0/WSS a.example.com;branch=z9hG4bK1",
    "To: <sip:ada@example.com>;tag=2",
    "From: <sip:ada@example.com>;tag=1",
    "Call-ID: 1",
    "CSeq: 1 REGISTER",
    ...challenges,
    "Content-Length: 0",
    "",
    ""
  ].join("\r\n")
  const request = { method: "REGISTER", ruri: "sip:example.com" }
  const byJsSip = new Digest({ username: "ada", password: "secret" })
  const bySipJs = new Core.DigestAuthentication(loggerFactory, undefined, "ada", "secret")
  const answers = [
    byJsSip.authenticate(request, parser.parseMessage(response, { configuration: {} }).parseHeader("www-authenticate")),
    bySipJs.authenticate(request, Core.Parser.parseMessage(response, logger).parseHeader("www-authenticate"))
  ].map((isAnswered) => (isAnswered ? "answers" : "gives up"))
  console.log(`${algorithms.join(", ")}: JsSIP ${answers[0]}, SIP.js ${answers[1]}`)
  assert.deepEqual(answers, [expected, expected])
}
show(["MD5"], "answers")
show(["SHA-256", "MD5"], "answers")
show(["MD5", "SHA-256"], "gives up")
PROGRAM
node run.mjs
