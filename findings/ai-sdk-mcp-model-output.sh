#!/usr/bin/env bash
# @ai-sdk/mcp 2.0.99 gives a model the sound that a tool returns as text in base64, and does not tell it that a tool failed.
#
# Results of a tool have audio next to text and images (MCP, tools). The package passes images on as such, but sound as JSON:
# one minute of a recorded call at 8 kHz is 640,000 characters, which a model reads as text and its user pays for. isError is
# not in what the model gets, although the AI SDK has outputs of type error-text. It also forbids arguments that a tool's schema
# allows.
#
# Output:
#   image: content with a part file
#   audio: content with a part text, {"type":"audio","data":"AAAA","mimeType":"audio/wav"}
#   success: content with a part text, sent
#   error: content with a part text, not sent
#   additionalProperties of the tool: undefined, for the model: false
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 @ai-sdk/mcp@2.0.99 zod@4.6.7
cat >run.mjs <<'PROGRAM'
import { createMCPClient } from "@ai-sdk/mcp"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import assert from "node:assert/strict"

const content = {
  image: { content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
  audio: { content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] },
  success: { content: [{ type: "text", text: "sent" }] },
  error: { content: [{ type: "text", text: "not sent" }], isError: true }
}
const server = new Server({ name: "calls", version: "1" }, { capabilities: { tools: {} } })
const inputSchema = { type: "object", properties: { kind: { type: "string" } } }
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: "get", inputSchema }] }))
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => content[params.arguments.kind])
const [near, far] = InMemoryTransport.createLinkedPair()
await server.connect(near)
const { get } = await (await createMCPClient({ transport: far })).tools()
const show = async (kind, expected) => {
  const output = await get.execute({ kind }, { toolCallId: "1", messages: [] })
  const { type, value } = await get.toModelOutput({ output, input: { kind }, toolCallId: "1" })
  const [part] = value
  const seen = `${type} with a part ${part.type}${part.type === "text" ? `, ${part.text}` : ""}`
  console.log(`${kind}: ${seen}`)
  assert.equal(seen, expected)
}
await show("image", "content with a part file")
await show("audio", 'content with a part text, {"type":"audio","data":"AAAA","mimeType":"audio/wav"}')
await show("success", "content with a part text, sent")
await show("error", "content with a part text, not sent")
const { additionalProperties } = await get.inputSchema.jsonSchema
console.log(`additionalProperties of the tool: ${inputSchema.additionalProperties}, for the model: ${additionalProperties}`)
assert.equal(additionalProperties, false)
process.exit()
PROGRAM
node run.mjs
