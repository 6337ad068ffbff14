#!/usr/bin/env bash
# cloudevents 10.0.0 loses the data 0, false and "" of an event in JSON, and neither writes nor reads the escapes of header
# values.
#
# These are values of JSON, and an event with them has data (CloudEvents, JSON event format, section 3.1). The reader returns
# none. In headers, characters beyond ASCII, spaces, quotes and percent signs are written with percent signs (HTTP protocol
# binding, section 3.1.3.2). The package writes them as they are: Node refuses to send some, and other SDKs read others wrongly.
#
# Output:
#   data 1: written 1, read 1
#   data 0: written 0, read undefined
#   data false: written false, read undefined
#   data "": written "", read undefined
#   subject "5 €", written: 5 €
#   subject "5%20%E2%82%AC", read: 5%20%E2%82%AC
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund cloudevents@10.0.0
cat >run.mjs <<'PROGRAM'
import { CloudEvent, HTTP } from "cloudevents"
import assert from "node:assert/strict"
import { validateHeaderValue } from "node:http"

const show = (label, seen, expected) => {
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const event = { type: "call.ended", source: "/calls", id: "1", datacontenttype: "application/json" }
const showData = (data, expected) => {
  const message = HTTP.structured(new CloudEvent({ ...event, data }))
  const written = JSON.parse(message.body).data
  const read = HTTP.toEvent(message).data
  show(`data ${JSON.stringify(data)}`, `written ${JSON.stringify(written)}, read ${JSON.stringify(read)}`, expected)
}
showData(1, "written 1, read 1")
showData(0, "written 0, read undefined")
showData(false, "written false, read undefined")
showData("", 'written "", read undefined')
const { headers } = HTTP.binary(new CloudEvent({ ...event, subject: "5 €", data: {} }))
show('subject "5 €", written', headers["ce-subject"], "5 €")
assert.throws(() => validateHeaderValue("ce-subject", headers["ce-subject"]), { code: "ERR_INVALID_CHAR" })
const read = HTTP.toEvent({ headers: { ...headers, "ce-subject": "5%20%E2%82%AC" }, body: "{}" })
show('subject "5%20%E2%82%AC", read', read.subject, "5%20%E2%82%AC")
PROGRAM
node run.mjs
