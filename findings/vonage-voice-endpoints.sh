#!/usr/bin/env bash
# @vonage/voice 1.24.1 sends fields of WebSocket and SIP endpoints under names that its API does not have, or not at all.
#
# The API has content-type for a WebSocket and User-to-User for SIP. The types of the package ask for contentType, which it sends
# as it is, and allow both userToUser and User-to-User, of which each function knows another: a call to SIP drops one, a call with
# an NCCO does not rename the other. TypeScript reports nothing. Write the names of the API with a cast, or build the JSON.
#
# Output:
#   call to a WebSocket: {"type":"websocket","uri":"wss://example.com/","contentType":"audio/l16;rate=16000"}
#   call to SIP, User-to-User: {"type":"sip","uri":"sip:ada@example.com","standard_headers":{}}
#   call to SIP, userToUser: {"type":"sip","uri":"sip:ada@example.com","standard_headers":{"User-to-User":"x"}}
#   call with an NCCO, userToUser: {"type":"sip","uri":"sip:ada@example.com","standardHeaders":{"userToUser":"x"}}
#   transfer with the same NCCO: {"type":"sip","uri":"sip:ada@example.com","standardHeaders":{"User-to-User":"x"}}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @vonage/voice@1.24.1 @vonage/auth@1.18.1
cat >run.mjs <<'PROGRAM'
import { Auth } from "@vonage/auth"
import { Voice } from "@vonage/voice"
import assert from "node:assert/strict"
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import { json } from "node:stream/consumers"

let seen
const server = createServer(async (request, response) => {
  seen = await json(request)
  response.setHeader("Content-Type", "application/json").end("{}")
}).listen(0, "127.0.0.1")
await once(server, "listening")
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const key = privateKey.export({ type: "pkcs8", format: "pem" })
const auth = new Auth({ applicationId: "00000000-0000-0000-0000-000000000000", privateKey: key })
const voice = new Voice(auth, { apiHost: `http://127.0.0.1:${server.address().port}` })
const show = async (label, request, pick, expected) => {
  await request
  console.log(`${label}: ${JSON.stringify(pick(seen))}`)
  assert.deepEqual(pick(seen), expected)
}
const call = (fields) => voice.createOutboundCall({ from: { type: "phone", number: "12125550100" }, ...fields })
const answerUrl = ["https://example.com/"]
const first = ({ to }) => to[0]
const websocket = { type: "websocket", uri: "wss://example.com/", contentType: "audio/l16;rate=16000" }
await show("call to a WebSocket", call({ to: [websocket], answerUrl }), first, websocket)
const sip = { type: "sip", uri: "sip:ada@example.com" }
const to = (standardHeaders) => call({ to: [{ ...sip, standardHeaders }], answerUrl })
const upper = { "User-to-User": "x" }
await show("call to SIP, User-to-User", to(upper), first, { ...sip, standard_headers: {} })
await show("call to SIP, userToUser", to({ userToUser: "x" }), first, { ...sip, standard_headers: upper })
const endpoint = { ...sip, standardHeaders: { userToUser: "x" } }
const ncco = [{ action: "connect", endpoint: [endpoint] }]
const withNcco = call({ to: [{ type: "phone", number: "12125550101" }], ncco })
await show("call with an NCCO, userToUser", withNcco, (body) => body.ncco[0].endpoint[0], endpoint)
const transferred = ({ destination }) => destination.ncco[0].endpoint[0]
await show("transfer with the same NCCO", voice.transferCallWithNCCO("1", ncco), transferred, { ...sip, standardHeaders: upper })
server.close()
server.closeAllConnections()
PROGRAM
node run.mjs
