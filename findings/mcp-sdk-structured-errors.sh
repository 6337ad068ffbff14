#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2: the client replaces an error of a tool by its own, if the error has structured content.
#
# A tool with an outputSchema promises it for its results. A failed call says so by isError, and may tell why in
# structuredContent, for example the terms of a payment. The client checks that against the schema of success as well, and
# throws -32602, which is the error of wrong arguments: the text and the terms are lost. Without structured content it returns
# the same error. @ai-sdk/mcp 2.0.99 returns both. Terms of a failed call have to go into the text.
#
# Output:
#   success: @modelcontextprotocol/sdk success, @ai-sdk/mcp success
#   error with text: @modelcontextprotocol/sdk isError with "insufficient_balance", @ai-sdk/mcp isError with "insufficient_balance"
#   error with structured content: @modelcontextprotocol/sdk throws -32602, @ai-sdk/mcp isError with "insufficient_balance"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 @ai-sdk/mcp@2.0.99 zod@4.6.7
cat >run.mjs <<'PROGRAM'
import { createMCPClient } from "@ai-sdk/mcp"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import assert from "node:assert/strict"

const inputSchema = { type: "object", properties: { to: { type: "string" } } }
const outputSchema = { type: "object", properties: { callId: { type: "string" } }, required: ["callId"] }
const text = [{ type: "text", text: "insufficient_balance" }]
const outcomes = {
  success: { content: [], structuredContent: { callId: "1" } },
  "error with text": { content: text, isError: true },
  "error with structured content": { content: text, structuredContent: { code: "insufficient_balance" }, isError: true }
}
const connect = async (outcome) => {
  const server = new Server({ name: "calls", version: "1" }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: "call", inputSchema, outputSchema }] }))
  server.setRequestHandler(CallToolRequestSchema, async () => outcome)
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(near)
  return far
}
const summaryOf = (call) =>
  call.then(
    (result) => (result.isError ? `isError with "${result.content[0].text}"` : "success"),
    (error) => `throws ${error.code}`
  )
const show = async (label, ...expected) => {
  const client = new Client({ name: "client", version: "1" })
  await client.connect(await connect(outcomes[label]))
  await client.listTools()
  const other = await createMCPClient({ transport: await connect(outcomes[label]) })
  const { call } = await other.tools()
  const seen = [
    await summaryOf(client.callTool({ name: "call", arguments: {} })),
    await summaryOf(call.execute({}, { toolCallId: "1", messages: [] }))
  ]
  console.log(`${label}: @modelcontextprotocol/sdk ${seen[0]}, @ai-sdk/mcp ${seen[1]}`)
  assert.deepEqual(seen, expected)
}
const error = 'isError with "insufficient_balance"'
await show("success", "success", "success")
await show("error with text", error, error)
await show("error with structured content", "throws -32602", error)
process.exit()
PROGRAM
node run.mjs
