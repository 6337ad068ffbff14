#!/usr/bin/env bash
# express-idempotency 1.0.6 answers each repetition of a request with 409, if its handler ended the response with end or redirect.
#
# It keeps a response when the handler calls send or json. With end, which 204, redirects and streams use, the key stays "in
# progress": a client that lost the answer and repeats its request learns only that it has to wait, and never gets the answer.
# What it does repeat lacks all header fields but Content-Type, such as Location, or the receipt of a payment. Handlers have to
# call send, and to put into the body what a client needs.
#
# Output:
#   json: 201 receipt=1, then 201 receipt=null
#   send: 200 receipt=2, then 200 receipt=null
#   204 and end: 204 receipt=3, then 409 receipt=null
#   redirect: 303 receipt=4, then 409 receipt=null
#   write and end: 200 receipt=5, then 409 receipt=null
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund express-idempotency@1.0.6 express@5.3.0
cat >run.mjs <<'PROGRAM'
import express from "express"
import idempotent from "express-idempotency"
import assert from "node:assert/strict"
import { once } from "node:events"

const handlers = {
  json: (response) => response.status(201).json({ sent: true }),
  send: (response) => response.send("sent"),
  "204 and end": (response) => response.status(204).end(),
  redirect: (response) => response.redirect(303, "/messages/1"),
  "write and end": (response) => {
    response.write("sent")
    response.end()
  }
}
let receipt = 0
const app = express().set("env", "test")
app.use(express.json(), idempotent.idempotency())
app.post("/:name", (request, response) => {
  if (idempotent.getSharedIdempotencyService().isHit(request)) return
  receipt += 1
  handlers[request.params.name](response.set("X-Receipt", String(receipt)))
})
const server = app.listen(0, "127.0.0.1")
await once(server, "listening")
const post = async (name) => {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": name }
  const url = `http://127.0.0.1:${server.address().port}/${encodeURIComponent(name)}`
  const response = await fetch(url, { method: "POST", redirect: "manual", headers, body: "{}" })
  await response.text()
  return `${response.status} receipt=${response.headers.get("X-Receipt")}`
}
const show = async (name, expected) => {
  const seen = `${await post(name)}, then ${await post(name)}`
  console.log(`${name}: ${seen}`)
  assert.equal(seen, expected)
}
await show("json", "201 receipt=1, then 201 receipt=null")
await show("send", "200 receipt=2, then 200 receipt=null")
await show("204 and end", "204 receipt=3, then 409 receipt=null")
await show("redirect", "303 receipt=4, then 409 receipt=null")
await show("write and end", "200 receipt=5, then 409 receipt=null")
server.close()
server.closeAllConnections()
PROGRAM
node run.mjs
