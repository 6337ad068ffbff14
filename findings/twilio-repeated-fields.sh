#!/usr/bin/env bash
# twilio 6.3.1 signs a field that is repeated in a form once for each different value, sorted; not once for each occurrence.
#
# Twilio's description of X-Twilio-Signature says to append each name and value in the order of the names. For repeated names, the
# helper drops equal values and sorts the others, so a check that follows the words alone refuses such a request. It matters to
# programs that check signatures without the helper, or play Twilio in a test.
#
# Output:
#   A=1 and A=1 like A=1: true
#   A=2 and A=1 like A=1 and A=2: true
#   A=1 and A=1, each appended: refused
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund twilio@6.3.1
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import twilio from "twilio"

const url = "https://agent.example/calls"
const token = "token of an account"
const signatureOf = (form) => twilio.getExpectedTwilioSignature(token, url, form)
const show = (name, actual, expected) => {
  console.log(`${name}: ${actual}`)
  assert.equal(actual, expected)
}
show("A=1 and A=1 like A=1", signatureOf({ A: ["1", "1"] }) === signatureOf({ A: "1" }), true)
show("A=2 and A=1 like A=1 and A=2", signatureOf({ A: ["2", "1"] }) === signatureOf({ A: ["1", "2"] }), true)
const appended = createHmac("sha1", token).update(`${url}A1A1`).digest("base64")
const isAccepted = twilio.validateRequest(token, appended, url, { A: ["1", "1"] })
show("A=1 and A=1, each appended", isAccepted ? "accepted" : "refused", "refused")
PROGRAM
node run.mjs
