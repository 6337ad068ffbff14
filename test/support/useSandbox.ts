import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { Agent } from "./Agent.ts"
import { Chain } from "./Chain.ts"
import { type Sandbox, startSandbox } from "./Sandbox.ts"
import type { SandboxDescription } from "@agentos/sandbox"

/** A sandbox for all tests of a file. */
export interface SandboxUnderTest {
  readonly sandbox: SandboxDescription
  /** The path of its description. */
  readonly file: string
  readonly chain: Chain
  /** Returns an agent with one of the funded wallets and no access token. */
  readonly agent: (wallet: 0 | 1 | 2) => Agent
}

export const useSandbox = (): SandboxUnderTest => {
  let running: Sandbox | undefined
  let described: SandboxDescription | undefined
  beforeAll(async () => {
    running = await startSandbox()
    described = await running.describe()
  })
  afterAll(() => running?.stop())
  const sandbox = () => {
    if (described === undefined) throw new Error("the sandbox is not running")
    return described
  }
  return {
    get sandbox() {
      return sandbox()
    },
    get file() {
      return join(running!.directory, "sandbox.json")
    },
    get chain() {
      return new Chain(sandbox())
    },
    agent: (wallet) => new Agent(sandbox(), sandbox().wallets[wallet]!.privateKey)
  }
}
