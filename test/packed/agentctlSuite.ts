import { existsSync, realpathSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, expect, it, onTestFinished } from "vitest"
import { hasTmux, Terminal } from "../cli/Terminal.ts"
import { type Installation, NODE_VERSIONS, type NodeVersion } from "./Installation.ts"
import { startForTest } from "./Running.ts"

const PAY = ["--yes", "--max-amount", "0.25", "--json"]

/** Tests agentctl as `npm install --global` leaves it, with its own home and no repository above. */
export const agentctlSuite = (installed: () => Installation): void => {
  let prefix = ""
  let program = ""
  beforeAll(async () => {
    const { home, run } = installed()
    prefix = join(home, "global")
    program = join(prefix, "bin", "agentctl")
    await run(24, "npm", "install", "--global", "--prefix", prefix, "--no-audit", "--no-fund", "@agentos/cli")
  })

  const agentctl = async (version: NodeVersion, ...parameters: ReadonlyArray<string>): Promise<string> =>
    (await installed().run(version, program, ...parameters)).stdout

  it("installs one file without dependencies, with its reference", () => {
    const folder = join(prefix, "lib/node_modules/@agentos/cli")
    expect(
      ["agentctl.cjs", "program.cjs", "REFERENCE.md", "README.md"].filter((name) => !existsSync(join(folder, name)))
    ).toEqual([])
    expect(existsSync(join(folder, "node_modules"))).toBe(false)
  })

  it.each(NODE_VERSIONS)("prints its version and completes in shells on Node %i", async (version) => {
    expect(await agentctl(version, "--version")).toBe(`agentctl ${installed().registry.versions["@agentos/cli"]}\n`)
    expect(await agentctl(version, "completion", "bash")).toContain("complete -F _agentctl agentctl")
    expect(await agentctl(version, "__complete", "mailbox", "cr")).toContain("create")
  })

  it("names the command that installs the sandbox if there is no terminal to ask on", async () => {
    const failure: unknown = await agentctl(22, "dev").catch((error: unknown) => error)
    expect(failure).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("\nNext: agentctl dev --yes\n") as string
    })
  })

  it.skipIf(!hasTmux)("asks on a terminal before it installs the sandbox", async () => {
    const { environment, folder } = installed()
    const terminal = await Terminal.open({ cwd: folder, env: environment(24) })
    onTestFinished(() => terminal.close())
    await terminal.type(`${program} dev`)
    await terminal.until("[y/N]")
    await terminal.type("n")
    expect((await terminal.ended()).text).toContain("Cancelled.")
  })

  it("begins the next command with npx if a project has installed it", async () => {
    const { folder, run } = installed()
    const local = join(folder, "node_modules/.bin/agentctl")
    symlinkSync(realpathSync(program), local)
    const failure: unknown = await run(24, local, "mailbox", "create", "--frm").catch((error: unknown) => error)
    expect(failure).toMatchObject({
      stderr: expect.stringContaining("\nNext: npx agentctl mailbox create --help\n") as string
    })
  })

  it.each(NODE_VERSIONS)(
    "buys a mailbox from a sandbox that it installs, and tails its mail on Node %i",
    async (version) => {
      // The first run installs the sandbox. The second one finds it.
      const dev = startForTest(installed(), version, program, [
        "dev",
        "--port",
        "0",
        ...(version === 22 ? ["--yes"] : [])
      ])
      expect(await dev.find(/In another terminal:\n +(.*)/)).toBe("agentctl mailbox create ada")

      const bought = await agentctl(version, "mailbox", "create", `ada${version}`, ...PAY)
      const { mailbox } = JSON.parse(bought) as { readonly mailbox: { readonly address: string } }
      const tail = startForTest(installed(), version, program, [
        "events",
        "tail",
        "--types",
        "email.received",
        "--max",
        "1"
      ])
      await agentctl(version, "sandbox", "mail", "--to", mailbox.address, "--subject", "Your order")
      expect(JSON.parse(await tail.find(/^(\{.*\})$/m))).toMatchObject({ payload: { subject: "Your order" } })
      expect(await dev.stop()).toBe(0)
    }
  )
}
