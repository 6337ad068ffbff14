import { INSTRUCTIONS, TOOLS } from "@agentos/tools"
import { Ajv } from "ajv"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freshName } from "../../support/Agent.ts"
import { useSandbox } from "../../support/useSandbox.ts"
import { type FrameworkFolders, installFrameworks } from "./FrameworkFolder.ts"
import { PREAMBLE, PROGRAMS } from "./programs.ts"
import { type ModelCall, NEWEST, type OfferedTool, Provider, withNewest } from "./Provider.ts"

/** The tools in the frameworks of agents and in hosts of the Model Context Protocol. */
const host = useSandbox()

/** An installation, and its removal, take minutes on a busy machine. */
const INSTALL_MILLIS = 500_000
let folders: FrameworkFolders | undefined
let reason = ""
let provider: Provider
const home = mkdtempSync(join(tmpdir(), "agentos-mcp-"))

const NO_FILTERS = { from: "", q: null, label: "", unread: "null", cursor: null }

/** The calls of the model, with the inputs that strict modes and hosts produce. The last one is wrong. */
const callsOf = (localPart: string): ReadonlyArray<ModelCall> => [
  { name: "create_mailbox", input: { localPart, displayName: null } },
  { name: "list_emails", input: { ...NO_FILTERS, mailbox: "", direction: "None", limit: "5", threadId: "null" } },
  {
    name: "send_email",
    input: {
      to: '["bob@outside.example"]',
      cc: null,
      bcc: [""],
      replyTo: "null",
      subject: "Hi",
      text: "Hello",
      html: "",
      mailbox: localPart,
      sendAt: new Date(Date.now() + 3_600_000).toISOString(),
      attachments: "[]"
    }
  },
  { name: "cancel_email", input: { messageId: NEWEST } },
  {
    name: "update_emails",
    input: { messageIds: `["${NEWEST}"]`, addLabels: "To Do", removeLabels: [null], unread: "False" }
  },
  { name: "list_threads", input: { mailbox: localPart, label: "to do", unread: "", limit: "5", cursor: null } },
  {
    name: "forward_email",
    input: {
      messageId: NEWEST,
      to: ["bob@outside.example"],
      text: "",
      forwardAttachments: "false",
      cc: "[]",
      bcc: null
    }
  },
  { name: "wait_for_email", input: { timeoutSeconds: "soon" } }
]

beforeAll(async () => {
  provider = await Provider.start(callsOf)
  folders = await installFrameworks().catch((error: unknown) => {
    reason = `the frameworks could not be installed: ${String(error).slice(0, 500)}`
    return undefined
  })
}, INSTALL_MILLIS)
afterAll(() => {
  provider?.stop()
  folders?.remove()
  rmSync(home, { recursive: true, force: true })
}, INSTALL_MILLIS)

type Json = Readonly<Record<string, unknown>>

const schemasIn = (schema: Json): ReadonlyArray<Json> => [
  schema,
  ...Object.values((schema["properties"] ?? {}) as Readonly<Record<string, Json>>).flatMap(schemasIn),
  ...(schema["items"] === undefined ? [] : schemasIn(schema["items"] as Json))
]

/** The keywords of Gemini's OpenAPI schemas (https://ai.google.dev/api/caching#Schema, 2026-11-28). */
const GEMINI = (
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties " +
  "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum"
).split(" ")

/** Mistral checks schemas against draft 7 (https://github.com/mistralai/mistral-common, validator.py, 1.12.0). */
const draft7 = new Ajv({ strict: false, validateFormats: false })

/** Checks the schemas that a provider receives by the rules that it publishes. */
const checkWire = (tools: ReadonlyArray<OfferedTool>): void => {
  expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name))
  for (const { isOpenApi, name, schema } of tools) {
    // The rule of Mistral and of OpenAI.
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    if (!isOpenApi) expect([name, draft7.validateSchema(schema), draft7.errors]).toEqual([name, true, null])
  }
  for (const { isOpenApi, name, schema, strict } of tools)
    for (const each of schemasIn(schema)) {
      if (isOpenApi) {
        expect([name, Object.keys(each).filter((keyword) => !GEMINI.includes(keyword))]).toEqual([name, []])
        expect([undefined, "date-time", "enum"]).toContain(each["format"])
      }
      expect(each).not.toHaveProperty("examples")
      const { enum: values, properties, required, type } = each
      if (values !== undefined) expect(String(type).toLowerCase()).toContain("string")
      // The strict mode is off, or the schema is in its dialect.
      if (strict === true && properties !== undefined) expect(required).toEqual(Object.keys(properties as object))
    }
}

describe("a model gets the tools, their results and their errors", () => {
  it.for(PROGRAMS)("in $name", async (program, { skip }) => {
    if (folders === undefined) return skip(reason)
    const conversation = freshName()
    const versions = program.packages.map((name) => `${name} ${folders?.version(program.folder, name)}`)
    process.stdout.write(`${program.name}: ${versions.join(", ")}\n`)
    const { stdout } = await folders.runProgram(program.folder, PREAMBLE + program.text, {
      BASE_URL: host.sandbox.baseUrl,
      PRIVATE_KEY: host.sandbox.wallets[0]!.privateKey,
      PROVIDER_URL: provider.url(conversation)
    })
    expect(stdout).toMatch(/^Done\.$/m)
    const { requests, tools } = provider.conversation(conversation)
    expect(requests).toHaveLength(callsOf("").length + 1)
    checkWire(tools)
    expect(requests[0]).toContain(JSON.stringify(INSTRUCTIONS).slice(1, -1))
    const last = requests.at(-1)
    const results = [`${conversation}@`, "nextCursor", "spentLastDay", "canceled", "to do", "messageCount", "Fwd: Hi"]
    for (const seen of [...results, "timeoutSeconds: ", "for example with"]) expect(last).toContain(seen)
    expect(last).toMatch(/INVALID_INPUT/)
  })
})

const MCP_CLIENTS = [
  {
    name: "version 1 of the SDK",
    package: "@modelcontextprotocol/sdk",
    imports: `
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"`
  },
  {
    name: "version 2 of the SDK",
    package: "@modelcontextprotocol/client",
    imports: `
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"`
  }
]

describe("agentctl mcp serves", () => {
  const main = join(dirname(fileURLToPath(import.meta.url)), "../../../packages/cli/src/main.ts")
  const parameters = () => [main, "mcp", "--base-url", host.sandbox.baseUrl, "--max-per-day", "20"]
  const environment = () => ({
    AGENTOS_PRIVATE_KEY: host.sandbox.wallets[1]!.privateKey,
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_DATA_HOME: home,
    XDG_STATE_HOME: home
  })

  it.for(MCP_CLIENTS)("$name", async ({ imports, name, package: installed }, { skip }) => {
    if (folders === undefined) return skip(reason)
    process.stdout.write(`${name}: ${installed} ${folders.version("latest", installed)}\n`)
    const localPart = freshName()
    const program = `${imports}
const client = new Client({ name: "host", version: "1" })
const env = { PATH: process.env.PATH, ...${JSON.stringify(environment())} }
await client.connect(new StdioClientTransport({ command: process.execPath, args: ${JSON.stringify(parameters())}, env }))
const { tools } = await client.listTools()
const withNewest = ${String(withNewest)}
const results = []
for (const { input, name } of ${JSON.stringify(callsOf(localPart))})
  results.push(await client.callTool({ name, arguments: withNewest(input, JSON.stringify(results)) }))
await client.close()
console.log(JSON.stringify({ names: tools.map(({ name }) => name), results }))`
    const { stdout } = await folders.runProgram("latest", program, {})
    const seen = JSON.parse(stdout) as {
      readonly names: ReadonlyArray<string>
      readonly results: ReadonlyArray<{
        readonly isError?: boolean
        readonly content: ReadonlyArray<{ readonly text: string }>
      }>
    }
    expect(seen.names).toEqual(TOOLS.map((tool) => tool.name))
    const last = callsOf("").length - 1
    expect(seen.results.map(({ isError = false }) => isError)).toEqual(callsOf("").map((_, call) => call === last))
    expect(seen.results[0]?.content[0]?.text).toContain(`${localPart}@`)
    expect(seen.results[last]?.content[0]?.text).toContain("timeoutSeconds: ")
  })

  it("the command line of the Inspector", async ({ skip }) => {
    if (folders === undefined) return skip(reason)
    process.stdout.write(`Inspector ${folders.version("latest", "@modelcontextprotocol/inspector")}\n`)
    const env = Object.entries(environment()).flatMap(([name, value]) => ["-e", `${name}=${value}`])
    const inspect = async (...method: ReadonlyArray<string>) => {
      const target = [process.execPath, ...parameters()]
      const { stdout } =
        (await folders?.run("mcp-inspector", ["--cli", ...env, ...method, "--", ...target], { HOME: home })) ?? {}
      return stdout ?? ""
    }
    const tools = await inspect("--method", "tools/list")
    for (const { name } of TOOLS) expect(tools).toContain(`"name": "${name}"`)
    const listed = await inspect(
      "--method",
      "tools/call",
      "--tool-name",
      "list_emails",
      "--tool-arg",
      "limit=5",
      "q=null"
    )
    expect(listed).toContain("nextCursor")
  })

  it("mcporter", async ({ skip }) => {
    if (folders === undefined) return skip(reason)
    process.stdout.write(`mcporter ${folders.version("latest", "mcporter")}\n`)
    const localPart = freshName()
    const call = async (tool: string, input: Json) => {
      const stdio = ["--stdio", process.execPath, ...parameters().flatMap((each) => ["--stdio-arg", each])]
      const env = Object.entries(environment()).flatMap(([name, value]) => ["--env", `${name}=${value}`])
      const args = ["--tool", tool, "--output", "json", "--args", JSON.stringify(input)]
      const { stdout } = (await folders?.run("mcporter", ["call", ...stdio, ...env, ...args], { HOME: home })) ?? {}
      return stdout ?? ""
    }
    expect(await call("create_mailbox", { localPart, displayName: "" })).toContain(`${localPart}@`)
    expect(await call("list_emails", { limit: "5", q: null })).toContain("nextCursor")
    const sent = await call("send_email", { to: '["bob@outside.example"]', subject: "Hi", text: "Hello" })
    expect(sent).toContain("bob@outside.example")
  })
})
