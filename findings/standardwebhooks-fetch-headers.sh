#!/usr/bin/env bash
# standardwebhooks 1.1.1 finds no header in the Headers of a fetch request, and says that they are missing.
#
# verify() reads the properties of an object. Handlers of Hono, Next.js, Bun, Deno and Cloudflare Workers have a Headers object,
# which has none: pass Object.fromEntries(request.headers) instead.
#
# Output:
#   an object: accepted
#   a Headers object: WebhookVerificationError: Missing required headers
#   Object.fromEntries of it: accepted
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund standardwebhooks@1.1.1
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { Webhook } from "standardwebhooks"

const webhook = new Webhook(`whsec_${Buffer.from("a test's secret of 24 by").toString("base64")}`)
const now = new Date()
const headers = {
  "webhook-id": "msg_1",
  "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
  "webhook-signature": webhook.sign("msg_1", now, "{}")
}
const outcome = (given) => {
  try {
    webhook.verify("{}", given)
    return "accepted"
  } catch (error) {
    return `${error.constructor.name}: ${error.message}`
  }
}
const show = (name, given, expected) => {
  console.log(`${name}: ${outcome(given)}`)
  assert.equal(outcome(given), expected)
}
show("an object", headers, "accepted")
show("a Headers object", new Headers(headers), "WebhookVerificationError: Missing required headers")
show("Object.fromEntries of it", Object.fromEntries(new Headers(headers)), "accepted")
PROGRAM
node run.mjs
