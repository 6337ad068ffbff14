#!/usr/bin/env bash
# @langchain/mcp-adapters 1.1.4 shows a model the _meta of a tool's result, @openai/agents-core 0.20.0 hides that a tool failed, and
# @mastra/mcp 2.0.0 drops the content of a result that is structured, too.
#
# _meta is for programs, such as the receipt of a payment. LangChain then gives the model JSON in place of the text. The agents of
# OpenAI give it the text of a failure without isError, as if it were a result. Mastra gives it structuredContent alone, without
# the sound. Texts of errors should say that nothing was done; parts that a model needs belong to content and structuredContent.
#
# Output:
#   LangChain, text and _meta: "{\"type\":\"text\",\"text\":\"Sent.\",\"meta\":{\"receipt\":\"0x1\"}}"
#   OpenAI, isError: {"type":"text","text":"Address is not valid."}
#   Mastra, text, sound and structure: {"seconds":3}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/mcp-adapters@1.1.4 @langchain/core@1.4.0 \
  @langchain/langgraph@1.7.3 @openai/agents-core@0.20.0 @mastra/mcp@2.0.0 @modelcontextprotocol/sdk@1.32.2
cat >server.mjs <<'SERVER'
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"

const text = (words) => ({ type: "text", text: words })
const sound = { type: "audio", data: "UklGRg==", mimeType: "audio/wav" }
const results = {
  send: { content: [text("Sent.")], _meta: { receipt: "0x1" } },
  fail: { content: [text("Address is not valid.")], isError: true },
  hear: { content: [text("A voicemail"), sound], structuredContent: { seconds: 3 } }
}
const server = new Server({ name: "mail", version: "1" }, { capabilities: { tools: {} } })
const tools = Object.keys(results).map((name) => ({ name, inputSchema: { type: "object" } }))
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
server.setRequestHandler(CallToolRequestSchema, ({ params }) => results[params.name])
await server.connect(new StdioServerTransport())
SERVER
cat >run.mjs <<'PROGRAM'
import { MultiServerMCPClient } from "@langchain/mcp-adapters"
import { MCPClient } from "@mastra/mcp"
import { getAllMcpTools, MCPServerStdio, RunContext } from "@openai/agents-core"
import assert from "node:assert/strict"

const command = { command: process.execPath, args: ["server.mjs"] }
const named = (tools, wanted) => tools.find(({ name }) => name === wanted)
const show = (label, seen, expected) => {
  console.log(`${label}: ${JSON.stringify(seen)}`)
  assert.deepEqual(seen, expected)
}
const langchain = new MultiServerMCPClient({ mcpServers: { mail: { transport: "stdio", ...command } } })
const send = named(await langchain.getTools(), "send")
const { content } = await send.invoke({ type: "tool_call", id: "1", name: "send", args: {} })
show("LangChain, text and _meta", content, '{"type":"text","text":"Sent.","meta":{"receipt":"0x1"}}')

const openai = new MCPServerStdio({ ...command, name: "mail" })
await openai.connect()
const fail = named(await getAllMcpTools({ mcpServers: [openai] }), "fail")
const failed = await fail.invoke(new RunContext({}), "{}")
show("OpenAI, isError", failed, { type: "text", text: "Address is not valid." })

const mastra = new MCPClient({ servers: { mail: command } })
const { mail_hear: hear } = await mastra.listTools()
show("Mastra, text, sound and structure", await hear.execute({}, {}), { seconds: 3 })
await Promise.all([langchain.close(), openai.close(), mastra.disconnect()])
process.exit()
PROGRAM
node run.mjs
