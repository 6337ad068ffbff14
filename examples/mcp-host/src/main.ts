/** A host of the Model Context Protocol: it passes calls of tools from a model to agentctl mcp, and the results back. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { playBob } from "./bob.ts"
import { converse, type ToolCall, type ToolResult } from "./model.ts"

const option = { type: "string" } as const
const options = { home: option, sandbox: option, wallet: option }
const { home, sandbox, wallet = "0" } = parseArgs({ options }).values
const sandboxFile = sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const service = JSON.parse(readFileSync(sandboxFile, "utf8"))

const payer = service.wallets[Number(wallet)]

// The host sets the limits, and no tool can raise them. The key is in the environment of agentctl, and never in a message.
const agentctl = new StdioClientTransport({
  command: process.execPath,
  args: [
    fileURLToPath(import.meta.resolve("@agentos/cli/main")),
    "mcp",
    "--max-per-call",
    "0.25",
    "--max-per-day",
    "1.00"
  ],
  env: {
    ...getDefaultEnvironment(),
    AGENTOS_BASE_URL: service.baseUrl,
    AGENTOS_PRIVATE_KEY: payer.privateKey,
    // The wallet's token, and the journal of payments, by which the limit per day counts across restarts.
    AGENTOS_HOME: home ?? fileURLToPath(new URL(`../.agentos/wallet-${wallet}`, import.meta.url))
  }
})
const host = new Client({ name: "example-host", version: "0.1.0" })
await host.connect(agentctl)
const stop = new AbortController()
process.once("SIGINT", () => stop.abort())

/** Runs a tool, and prints the model's call and its result. */
const run = async (call: ToolCall): Promise<ToolResult> => {
  console.log(`> ${call.name} ${JSON.stringify(call.arguments)}`)
  const { isError, structuredContent, content } = await host.callTool({ ...call }, undefined, { signal: stop.signal })
  console.log(`< ${(content as ReadonlyArray<{ readonly text: string }>)[0]?.text}`)
  // An error says what happened, whether money moved and what to do next. A model would read it; the script ends.
  if (isError === true) throw new Error(`${call.name} failed`)
  return structuredContent as unknown as ToolResult
}

/** Passes calls and results between the model and the server, and returns the model's last text. */
const talk = async (): Promise<string> => {
  const model = converse(`mcp-${payer.address.slice(-8)}`)
  let turn = model.next()
  while (turn.done !== true) turn = model.next(await run(turn.value))
  return turn.value
}

try {
  const { tools } = await host.listTools()
  console.log(`instructions: ${host.getInstructions()}`)
  console.log(`tools: ${tools.map(({ name }) => name).join(", ")}`)
  const [said] = await Promise.all([talk(), playBob(service, stop.signal)])
  console.log(said)
} finally {
  stop.abort()
  await host.close()
}
