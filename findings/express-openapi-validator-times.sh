#!/usr/bin/env bash
# express-openapi-validator 5.6.2 refuses the times that axios 1.21.1 writes into a query, because of their colons.
#
# A colon may stand in a query as it is (RFC 3986, section 3.4), and axios does not encode it. The validator takes OpenAPI's
# allowReserved: false for a rule that it has to enforce, and answers 400, before it decodes the value. It also refuses a text
# that is empty, unless the parameter has allowEmptyValue. A server that has axios among its clients has to set both for such
# parameters.
#
# Output:
#   axios writes ?since=2026-12-01T10:00:00Z: 400 Parameter 'since' must be url encoded. Its value may not contain reserved
#     characters.
#   fetch writes ?since=2026-12-01T10%3A00%3A00Z: 200
#   fetch writes ?subject=: 400 Empty value found for query parameter 'subject'
#   axios writes ?before=2026-12-01T10:00:00Z (allowReserved): 200
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund express-openapi-validator@5.6.2 express@5.3.0 axios@1.21.1
cat >run.mjs <<'PROGRAM'
import axios from "axios"
import express from "express"
import { middleware } from "express-openapi-validator"
import assert from "node:assert/strict"
import { once } from "node:events"

const time = { type: "string", format: "date-time" }
const parameters = [
  { name: "since", in: "query", schema: time },
  { name: "before", in: "query", allowReserved: true, schema: time },
  { name: "subject", in: "query", schema: { type: "string" } }
]
const get = { parameters, responses: { 200: { description: "Messages" } } }
const apiSpec = { openapi: "3.0.3", info: { title: "Mail", version: "1" }, paths: { "/messages": { get } } }
const app = express()
app.use(middleware({ apiSpec }))
app.get("/messages", (_, response) => response.json({ message: "" }))
app.use(({ status, message }, _request, response, _next) => response.status(status).json({ message }))
const server = app.listen(0, "127.0.0.1")
await once(server, "listening")
let query
server.on("request", ({ url }) => (query = url.slice("/messages".length)))
const url = `http://127.0.0.1:${server.address().port}/messages`
const show = async (name, ask, expected, note = "") => {
  const { status, message } = await ask
  console.log(`${name} writes ${query}${note}: ${`${status} ${message}`.trim()}`)
  assert.deepEqual([status, message], expected)
}
const byAxios = async (params) => {
  const { status, data } = await axios.get(url, { params, validateStatus: () => true })
  return { status, message: data.message }
}
const byFetch = async (params) => {
  const response = await fetch(`${url}?${new URLSearchParams(params)}`)
  return { status: response.status, message: (await response.json()).message }
}
const at = "2026-12-01T10:00:00Z"
const reserved = "Parameter 'since' must be url encoded. Its value may not contain reserved characters."
await show("axios", byAxios({ since: at }), [400, reserved])
await show("fetch", byFetch({ since: at }), [200, ""])
await show("fetch", byFetch({ subject: "" }), [400, "Empty value found for query parameter 'subject'"])
await show("axios", byAxios({ before: at }), [200, ""], " (allowReserved)")
server.close()
server.closeAllConnections()
PROGRAM
node run.mjs
