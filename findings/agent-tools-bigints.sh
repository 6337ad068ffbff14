#!/usr/bin/env bash
# Tools that return a bigint: @langchain/core 1.4.0 shows the model "[object Object]", @openai/agents-core 0.20.0 "[object with
# circular references]", and ai 7.0.173 rejects the whole run.
#
# viem, ethers and web3 return balances and amounts as bigints, which JSON does not have. The first two report success, so a model
# does not know what it has bought; the third fails after the tool has done its work, such as a payment, and the run and its
# messages are lost. @openai/agents-core also hides what a tool threw, and asks the model to try again. Return text for amounts;
# give errorFunction a function that passes the message on.
#
# Output:
#   LangChain, { paid: 1500000n }: success, "[object Object]"
#   OpenAI, { paid: 1500000n }: completed, "[object with circular references]"
#   OpenAI, Error("No funds. Nothing was paid."): completed, "An error occurred while running the tool. Please try again."
#   ai, { paid: 1500000n }: TypeError: Do not know how to serialize a BigInt
#   ai, Error("No funds. Nothing was paid."): "Error: No funds. Nothing was paid."
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/core@1.4.0 @openai/agents-core@0.20.0 ai@7.0.173 zod@4.6.7
cat >run.mjs <<'PROGRAM'
import { tool as langchainTool } from "@langchain/core/tools"
import { Agent, Runner, setTracingDisabled, tool as openaiTool, Usage } from "@openai/agents-core"
import { generateText, isStepCount, tool as aiTool } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import assert from "node:assert/strict"
import { z } from "zod"

setTracingDisabled(true)
const input = z.object({})
const pay = async () => ({ paid: 1_500_000n })
const fail = () => Promise.reject(new Error("No funds. Nothing was paid."))
const show = (label, seen, expected) => {
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const refused = 'Error("No funds. Nothing was paid.")'
const paid = "{ paid: 1500000n }"

const langchain = langchainTool(pay, { name: "pay", description: "Pays", schema: input })
const { content, status } = await langchain.invoke({ type: "tool_call", id: "1", name: "pay", args: {} })
show(`LangChain, ${paid}`, `${status}, "${content}"`, 'success, "[object Object]"')

// Each model calls the tool once, and then ends.
const openai = async (execute) => {
  const requests = []
  const call = { type: "function_call", callId: "1", name: "pay", arguments: "{}", status: "completed" }
  const end = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Done." }] }
  const getResponse = async (request) => {
    requests.push(request.input)
    return { usage: new Usage(), output: [requests.length === 1 ? call : end] }
  }
  const tools = [openaiTool({ name: "pay", description: "Pays", parameters: input, execute })]
  await new Runner().run(new Agent({ name: "buyer", model: { getResponse }, tools }), "Pay.")
  const result = requests[1].find(({ type }) => type === "function_call_result")
  return `${result.status}, "${result.output.text}"`
}
show(`OpenAI, ${paid}`, await openai(pay), 'completed, "[object with circular references]"')
const again = 'completed, "An error occurred while running the tool. Please try again."'
show(`OpenAI, ${refused}`, await openai(fail), again)

const ai = async (execute) => {
  const prompts = []
  const call = { type: "tool-call", toolCallId: "1", toolName: "pay", input: "{}" }
  const doGenerate = async ({ prompt }) => {
    prompts.push(prompt)
    const [content, unified] = prompts.length === 1 ? [[call], "tool-calls"] : [[{ type: "text", text: "Done." }], "stop"]
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
    return { content, finishReason: { unified, raw: unified }, usage, warnings: [] }
  }
  const tools = { pay: aiTool({ description: "Pays", inputSchema: input, execute }) }
  const options = { model: new MockLanguageModelV4({ doGenerate }), prompt: "Pay.", stopWhen: isStepCount(2), tools }
  const failure = await generateText(options).then(() => undefined, String)
  return failure ?? JSON.stringify(prompts[1].at(-1).content[0].output.value)
}
show(`ai, ${paid}`, await ai(pay), "TypeError: Do not know how to serialize a BigInt")
show(`ai, ${refused}`, await ai(fail), '"Error: No funds. Nothing was paid."')
PROGRAM
node run.mjs
