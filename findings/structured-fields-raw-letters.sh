#!/usr/bin/env bash
# structured-field-values 2.0.4 and @svta/cml-structured-field-values 1.1.6 write text beyond ASCII into a field as it is.
#
# A String has ASCII only, and to write another letter must fail (RFC 8941, section 4.1.6). Node sends some of the letters as
# one byte, which readers refuse with the whole field, and refuses to send others: a name decides whether a request is sent.
# structured-headers 2.1.0 throws.
#
# Output:
#   writes "fur": structured-field-values "fur", cml "fur", structured-headers "fur"
#   writes "für": structured-field-values "für", cml "für", structured-headers throws
#   writes "USD₮": structured-field-values "USD₮", cml "USD₮", structured-headers throws
#   "für", read by structured-headers: throws
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund structured-field-values@2.0.4 @svta/cml-structured-field-values@1.1.6 \
  @svta/cml-utils@1.6.1 structured-headers@2.1.0
cat >run.mjs <<'PROGRAM'
import * as cml from "@svta/cml-structured-field-values"
import assert from "node:assert/strict"
import { validateHeaderValue } from "node:http"
import * as sfv from "structured-field-values"
import * as other from "structured-headers"

const attempt = (call) => {
  try {
    return String(call())
  } catch {
    return "throws"
  }
}
const show = (label, calls, ...expected) => {
  const seen = calls.map(attempt)
  console.log(`${label}: structured-field-values ${seen[0]}, cml ${seen[1]}, structured-headers ${seen[2]}`)
  assert.deepEqual(seen, expected)
}
const write = (text) => [() => sfv.encodeItem(text), () => cml.encodeSfItem(text), () => other.serializeItem([text, new Map()])]
show('writes "fur"', write("fur"), '"fur"', '"fur"', '"fur"')
show('writes "für"', write("für"), '"für"', '"für"', "throws")
show('writes "USD₮"', write("USD₮"), '"USD₮"', '"USD₮"', "throws")
assert.throws(() => validateHeaderValue("token", sfv.encodeItem("USD₮")), { code: "ERR_INVALID_CHAR" })
const received = Buffer.from(sfv.encodeItem("für"), "latin1").toString("latin1")
const seen = attempt(() => other.parseItem(received))
console.log(`${received}, read by structured-headers: ${seen}`)
assert.equal(seen, "throws")
PROGRAM
node run.mjs
