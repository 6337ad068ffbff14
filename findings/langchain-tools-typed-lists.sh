#!/usr/bin/env bash
# @langchain/core 1.4.0 takes a list of objects with a field "type" for parts of a message, where it gives other lists as JSON.
#
# Lists of events and entries of a ledger have such a field. The objects go to the provider of the model as they are, and
# may be refused there as parts of an unknown type. An empty list and lists without the field pass, so the error shows up with the
# first event. Return JSON.stringify(list) from a tool.
#
# Output:
#   [{"kind":"sms","id":1}]: text "[{\"kind\":\"sms\",\"id\":1}]"
#   [{"type":"sms","id":1}]: parts [{"type":"sms","id":1}]
#   [{"type":"text","id":1,"from":"+12125550100"}]: parts [{"type":"text","id":1,"from":"+12125550100"}]
#   {"type":"sms","id":1}: text "{\"type\":\"sms\",\"id\":1}"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @langchain/core@1.4.0 zod@4.6.7
cat >run.mjs <<'PROGRAM'
import { tool } from "@langchain/core/tools"
import assert from "node:assert/strict"
import { z } from "zod"

const show = async (result, expected) => {
  const events = tool(async () => result, { name: "events", description: "Lists events", schema: z.object({}) })
  const { content } = await events.invoke({ type: "tool_call", id: "1", name: "events", args: {} })
  console.log(`${JSON.stringify(result)}: ${typeof content === "string" ? "text" : "parts"} ${JSON.stringify(content)}`)
  assert.deepEqual(content, expected)
}
const other = [{ kind: "sms", id: 1 }]
await show(other, JSON.stringify(other))
const typed = [{ type: "sms", id: 1 }]
await show(typed, typed)
const text = [{ type: "text", id: 1, from: "+12125550100" }]
await show(text, text)
await show(typed[0], JSON.stringify(typed[0]))
PROGRAM
node run.mjs
