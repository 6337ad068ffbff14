#!/usr/bin/env bash
# openapi-mcp-generator 4.0.1 makes MCP servers whose failed calls are no errors, and which join repeated parameters.
#
# A tool that fails says so by isError (MCP, tools, error handling), from which hosts and frameworks tell a failure. The answers 402
# and 500 of an API become ordinary results here, and so do arguments that do not fit the schema. The headers of an answer are not
# in the result, so a client never sees the terms of an x402 seller. OpenAPI repeats a query parameter for each item of an array,
# unless `explode` is false; the server sends one value with commas. Bytes are decoded as text, and lose what is not UTF-8.
#
# Output:
#   200: isError undefined, "API Response (Status: 200):"
#   402: isError undefined, terms in the result false
#   invalid arguments: isError undefined, "Invalid arguments for tool 'pay': status"
#   label ["a","b"]: ?label=a%2Cb
#   bytes ff d8 ff: ef bf bd ef bf bd ef bf bd
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps openapi-mcp-generator@4.0.1
cat >api.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": { "title": "Shop", "version": "1" },
  "paths": {
    "/pay/{status}": {
      "get": {
        "operationId": "pay",
        "parameters": [
          { "name": "status", "in": "path", "required": true, "schema": { "type": "integer" } },
          { "name": "label", "in": "query", "schema": { "type": "array", "items": { "type": "string" } } }
        ],
        "responses": { "200": { "description": "Paid" }, "402": { "description": "Payment required" } }
      }
    },
    "/file": { "get": { "operationId": "file", "responses": { "200": { "description": "Bytes" } } } }
  }
}
JSON
npx openapi-mcp-generator --input api.json --output server >/dev/null 2>&1
(cd server && npm install --silent --no-audit --no-fund --ignore-scripts)
cat >server/run.mjs <<'PROGRAM'
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"

let url
const api = createServer((request, response) => {
  url = request.url
  if (url === "/file") return response.writeHead(200, { "content-type": "image/jpeg" }).end(Buffer.from([0xff, 0xd8, 0xff]))
  const status = Number(/\d+/.exec(url)[0])
  response.writeHead(status, { "content-type": "application/json", "payment-required": "the-terms" }).end("{}")
})
await once(api.listen(0, "127.0.0.1"), "listening")
const env = { ...process.env, API_BASE_URL: `http://127.0.0.1:${api.address().port}` }
const args = ["--disable-warning=ExperimentalWarning", "src/index.ts"]
const client = new Client({ name: "client", version: "1" })
await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }))
const call = async (name, input) => {
  const { content, isError } = await client.callTool({ name, arguments: input })
  return { isError, text: content[0].text }
}
const show = (label, seen, expected) => {
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const paid = await call("pay", { status: 200 })
show("200", `isError ${paid.isError}, ${JSON.stringify(paid.text.split("\n")[0])}`, 'isError undefined, "API Response (Status: 200):"')
const refused = await call("pay", { status: 402 })
const terms = refused.text.includes("the-terms")
show("402", `isError ${refused.isError}, terms in the result ${terms}`, "isError undefined, terms in the result false")
const wrong = await call("pay", { status: "much" })
const first = wrong.text.split(" (")[0]
const expected = `isError undefined, "Invalid arguments for tool 'pay': status"`
show("invalid arguments", `isError ${wrong.isError}, ${JSON.stringify(first)}`, expected)
await call("pay", { status: 200, label: ["a", "b"] })
show('label ["a","b"]', url.slice(url.indexOf("?")), "?label=a%2Cb")
const { text } = await call("file", {})
const bytes = Buffer.from(text.split("\n")[1]).toString("hex").match(/../g).join(" ")
show("bytes ff d8 ff", bytes, "ef bf bd ef bf bd ef bf bd")
await client.close()
api.close()
PROGRAM
cd server
node run.mjs
