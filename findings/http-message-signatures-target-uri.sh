#!/usr/bin/env bash
# http-message-signatures 1.0.6 signs @target-uri as a program wrote the URL, not as it is sent, so receivers refuse the request.
#
# fetch and node:http send the normalized URL: with a path, a host in small letters, letters beyond ASCII encoded, and without the
# port 443. A receiver signs what it gets (RFC 9421, section 2.2.2). URLs of webhooks are written by customers, so
# https://example.com is common. @path, @query and @authority are right. Give the package new URL(url).href, or a URL object.
#
# Output:
#   https://example.com: signs https://example.com, sent https://example.com/
#   https://Example.com/hook: signs https://Example.com/hook, sent https://example.com/hook
#   https://example.com/grüße: signs https://example.com/grüße, sent https://example.com/gr%C3%BC%C3%9Fe
#   new URL("https://example.com"): signs https://example.com/, sent https://example.com/
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund http-message-signatures@1.0.6
cat >run.mjs <<'PROGRAM'
import { httpbis } from "http-message-signatures"
import assert from "node:assert/strict"
import { createHmac } from "node:crypto"

const show = async (label, url, signed) => {
  let base
  const sign = async (data) => {
    base = data.toString()
    return createHmac("sha256", "secret").update(data).digest()
  }
  const key = { id: "one", alg: "hmac-sha256", sign }
  await httpbis.signMessage({ key, fields: ["@target-uri"] }, { method: "POST", url, headers: {} })
  const [, seen] = /^"@target-uri": (.*)$/m.exec(base)
  const sent = new Request(url, { method: "POST" }).url
  console.log(`${label}: signs ${seen}, sent ${sent}`)
  assert.equal(seen, signed)
  assert.equal(seen === sent, typeof url !== "string")
}
for (const url of ["https://example.com", "https://Example.com/hook", "https://example.com/grüße"]) await show(url, url, url)
await show('new URL("https://example.com")', new URL("https://example.com"), "https://example.com/")
PROGRAM
node run.mjs
