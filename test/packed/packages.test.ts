import type { SandboxDescription } from "@agentos/sandbox"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe } from "vitest"
import { agentctlSuite } from "./agentctlSuite.ts"
import { contractSuite } from "./contractSuite.ts"
import { hostsSuite } from "./hostsSuite.ts"
import { install, type Installation } from "./Installation.ts"
import { type Running, start } from "./Running.ts"
import { serverSuite } from "./serverSuite.ts"
import { typesSuite } from "./typesSuite.ts"

let installation: Installation
/** The installed sandbox: its chain, facilitator and relay serve all hosts. */
let running: Running
let description: SandboxDescription
const installed = () => installation
const sandbox = () => description
const sandboxFile = () => join(installation.folder, ".agentos", "sandbox.json")

beforeAll(async () => {
  installation = await install()
  running = start(installation, 24, "npx", ["agentos-sandbox", "--no-tour", "--port", "0"])
  await running.find(/^ready (\S+)/m)
  description = JSON.parse(readFileSync(sandboxFile(), "utf8")) as SandboxDescription
}, 900_000)
afterAll(async () => {
  await running?.stop()
  installation?.stop()
})

describe("the declarations of installed packages", () => typesSuite(installed))
describe("an installed package, in a host", () => hostsSuite(installed, sandbox, sandboxFile))
describe("agentos-server, installed", () => serverSuite(installed, sandbox))
describe("agentctl, installed", () => agentctlSuite(installed))
describe("the contract suites, installed", () => contractSuite(installed))
