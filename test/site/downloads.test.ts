import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"
import { useSandbox } from "../support/useSandbox.ts"

/** The packages that a server of this checkout offers, as npm installs them. */
const host = useSandbox()
const run = promisify(execFile)

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "agentos-downloads-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A registry that has nothing: everything must come from the server. */
const NO_REGISTRY = ["--registry", "http://127.0.0.1:9", "--no-audit", "--no-fund", "--prefer-offline"]
const INSTALL_MILLIS = 300_000

const npm = (...parameters: ReadonlyArray<string>) =>
  run("npm", [...parameters, ...NO_REGISTRY], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder },
    timeout: INSTALL_MILLIS
  })

interface Listed {
  readonly name: string
  readonly url: string
  readonly integrity: string
}

it(
  "npm installs the client and agentctl by their addresses, with the hashes that the server lists",
  async () => {
    const { packages } = (await (await fetch(`${host.sandbox.baseUrl}/downloads`)).json()) as {
      readonly packages: ReadonlyArray<Listed>
    }
    expect(packages.map(({ name }) => name)).toEqual(["@agentos/client", "@agentos/tools", "@agentos/cli"])
    const installed = packages.filter(({ name }) => name !== "@agentos/tools")
    await npm("install", "--prefix", folder, ...installed.map(({ url }) => url))
    const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly integrity?: string }>>
    }
    expect(installed.map(({ name }) => lock.packages[`node_modules/${name}`]?.integrity)).toEqual(
      installed.map(({ integrity }) => integrity)
    )
    const program = `const { AgentOs } = await import("@agentos/client")
      const agent = await AgentOs.connect("${host.sandbox.baseUrl}")
      console.log((await agent.call("describeApi")).name)`
    const client = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: folder })
    expect(client.stdout).toBe("AgentOS\n")
    const agentctl = await run(join(folder, "node_modules/.bin/agentctl"), ["--version"], { cwd: folder })
    expect(agentctl.stdout).toMatch(/^agentctl \d+\.\d+\.\d+\n$/)
  },
  INSTALL_MILLIS
)

it(
  "npm runs agentctl by its address without a version",
  async () => {
    const { stdout } = await npm(
      "exec",
      "--yes",
      `--package=${host.sandbox.baseUrl}/downloads/agentos-cli.tgz`,
      "--",
      "agentctl",
      "--version"
    )
    expect(stdout).toMatch(/^agentctl \d+\.\d+\.\d+\n$/)
  },
  INSTALL_MILLIS
)
