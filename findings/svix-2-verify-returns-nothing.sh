#!/usr/bin/env bash
# svix 2.5.0 verifies a webhook and returns undefined, where svix 1.99.1 and standardwebhooks 1.1.1 return the payload.
#
# A receiver written as `const event = webhook.verify(body, headers)`, as for the other two, gets no event from a valid request
# and no error. standardwebhooks parses the payload as JSON: a valid signature over other text throws SyntaxError, which is not
# the error of a wrong signature.
#
# Output:
#   svix 1.99.1, JSON: {"type":"email.received"}
#   svix 2.5.0, JSON: undefined
#   standardwebhooks 1.1.1, JSON: {"type":"email.received"}
#   svix 2.5.0, text: undefined
#   standardwebhooks 1.1.1, text: SyntaxError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund svix1@npm:svix@1.99.1 svix2@npm:svix@2.5.0 standardwebhooks@1.1.1
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { Webhook as Standard } from "standardwebhooks"
import { Webhook as One } from "svix1"
import { Webhook as Two } from "svix2"

const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`
const show = (name, Webhook, kind, body, expected) => {
  const webhook = new Webhook(secret)
  const now = new Date()
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
    "webhook-signature": webhook.sign("msg_1", now, body)
  }
  let seen
  try {
    seen = JSON.stringify(webhook.verify(body, headers)) ?? "undefined"
  } catch (error) {
    seen = error.constructor.name
  }
  console.log(`${name}, ${kind}: ${seen}`)
  assert.equal(seen, expected)
}
const json = '{"type":"email.received"}'
show("svix 1.99.1", One, "JSON", json, json)
show("svix 2.5.0", Two, "JSON", json, "undefined")
show("standardwebhooks 1.1.1", Standard, "JSON", json, json)
show("svix 2.5.0", Two, "text", "Hello", "undefined")
show("standardwebhooks 1.1.1", Standard, "text", "Hello", "SyntaxError")
PROGRAM
node run.mjs
