import { builtProgram } from "@agentos/cli/testing"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { assert } from "vitest"
import { type CliCustomer, STEP_MAIN } from "./CliRig.ts"

export type Data = Readonly<Record<string, unknown>>

interface Failed {
  readonly code: string
  readonly message: string
  readonly moneyMoved: string
  readonly money: string
  readonly next: string
}

export interface McpOptions {
  readonly env?: Readonly<Record<string, string>>
  /** The step of a payment at which the server is killed. */
  readonly killAt?: string
}

/** A host that starts `agentctl mcp` of a customer, as desktop programs do, with the client of the official SDK. */
export class McpHost {
  readonly client: Client
  /** The standard error of the server. */
  log = ""
  private constructor(transport: StdioClientTransport) {
    this.client = new Client({ name: "test", version: "1" })
    transport.stderr?.on("data", (text: Buffer) => (this.log += text.toString()))
  }

  static async start(
    customer: CliCustomer,
    args: ReadonlyArray<string>,
    { env = {}, killAt }: McpOptions = {}
  ): Promise<McpHost> {
    const program = killAt === undefined ? await builtProgram() : STEP_MAIN
    const killing = killAt === undefined ? {} : { AGENTOS_CLI_KILL_AT: killAt }
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, "mcp", ...args],
      cwd: customer.home,
      env: { ...customer.env, ...killing, ...env },
      stderr: "pipe"
    })
    const host = new McpHost(transport)
    await host.client.connect(transport)
    return host
  }

  async names(): Promise<ReadonlyArray<string>> {
    return (await this.client.listTools()).tools.map(({ name }) => name)
  }

  /** Calls a tool that succeeds. The client checks the result against the schema of the tool. */
  async call(name: string, input: Data = {}): Promise<Data> {
    const { content, isError, structuredContent } = await this.client.callTool({ name, arguments: input })
    const [{ text }] = content as [{ readonly text: string }]
    assert.isNotTrue(isError, `${text}\n${this.log}`)
    assert.deepStrictEqual(JSON.parse(text), structuredContent)
    return structuredContent as Data
  }

  /** Calls a tool that fails, and returns its error. */
  async fail(name: string, input: Data = {}): Promise<Failed> {
    const { content, isError } = await this.client.callTool({ name, arguments: input })
    const [{ text }] = content as [{ readonly text: string }]
    assert.isTrue(isError, text)
    return (JSON.parse(text) as { readonly error: Failed }).error
  }

  close(): Promise<void> {
    return this.client.close()
  }
}
