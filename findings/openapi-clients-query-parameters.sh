#!/usr/bin/env bash
# openapi-fetch 0.17.0 and swagger-client 3.39.0 drop a Date from a query, and openapi-client-axios 7.9.1 renames lists.
#
# A request for the messages since a time then returns all of them, or their first page. openapi-typescript-fetch 2.2.1 writes the
# Date in words. A list without a style is repeated as label=a&label=b (OpenAPI 3, default of "style" and "explode");
# openapi-client-axios writes label[], which a server ignores or refuses. Its axios needs paramsSerializer: { indexes: null }.
# Give dates as date.toISOString().
#
# Output:
#   openapi-fetch: ?label=a&label=b, without since
#   swagger-client: ?label=a&label=b, without since
#   openapi-client-axios: ?label[]=a&label[]=b, ?since=1970-01-01T00:00:00.000Z
#   openapi-typescript-fetch: ?label=a&label=b, ?since=Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts openapi-fetch@0.17.0 swagger-client@3.39.0 \
  openapi-client-axios@7.9.1 axios@1.21.1 openapi-typescript-fetch@2.2.1
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import axiosClient from "openapi-client-axios"
import openapiFetch from "openapi-fetch"
import { Fetcher } from "openapi-typescript-fetch"
import SwaggerClient from "swagger-client"

let seen = ""
const server = createServer(({ url }, response) => {
  seen = decodeURIComponent(url.slice("/messages".length))
  response.setHeader("Content-Type", "application/json").end("{}")
}).listen(0, "127.0.0.1")
await once(server, "listening")
const base = `http://127.0.0.1:${server.address().port}`
const text = { type: "string" }
const since = { name: "since", in: "query", schema: { ...text, format: "date-time" } }
const label = { name: "label", in: "query", schema: { type: "array", items: text } }
const get = { operationId: "listMessages", parameters: [since, label], responses: { 200: { description: "Messages" } } }
const info = { title: "Mail", version: "1" }
const spec = { openapi: "3.0.3", info, servers: [{ url: base }], paths: { "/messages": { get } } }

const plain = openapiFetch({ baseUrl: base })
const swagger = await new SwaggerClient({ spec })
const axios = await new axiosClient.default({ definition: spec }).init()
const fetcher = Fetcher.for()
fetcher.configure({ baseUrl: base })
const list = fetcher.path("/messages").method("get").create({})
const show = async (name, send, labels, date) => {
  await send({ label: ["a", "b"] })
  const listed = seen
  await send({ since: new Date(0) })
  console.log(`${name}: ${listed}, ${seen || "without since"}`)
  assert.deepEqual([listed, seen], [labels, date])
}
const repeated = "?label=a&label=b"
await show("openapi-fetch", (query) => plain.GET("/messages", { params: { query } }), repeated, "")
await show("swagger-client", (parameters) => swagger.execute({ operationId: "listMessages", parameters }), repeated, "")
const renamed = "?label[]=a&label[]=b"
await show("openapi-client-axios", (query) => axios.listMessages(query), renamed, "?since=1970-01-01T00:00:00.000Z")
await show("openapi-typescript-fetch", (query) => list(query), repeated, `?since=${new Date(0)}`)
server.close()
server.closeAllConnections()
PROGRAM
TZ=UTC node run.mjs
