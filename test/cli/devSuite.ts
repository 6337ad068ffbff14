import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { familyOf, untilGone } from "../support/Processes.ts"
import { goldenOf, Masks, throughPipes } from "./drive/Golden.ts"
import { REPOSITORY } from "./drive/Stage.ts"
import { type CliRig, runCli } from "./CliRig.ts"

const END_MILLIS = 60_000

/** Tests the `agentctl dev` that runs the sandbox of all suites. Comes last, because it ends the sandbox. */
export const devSuite = (rig: CliRig): void => {
  describe("agentctl dev", () => {
    it("creates a profile that can pay, with a private key file of mode 0600", async () => {
      const { dev, sandbox } = rig
      const document = await dev.document
      const [wallet] = sandbox.wallets
      assert.deepInclude(document, { profile: "dev", baseUrl: sandbox.baseUrl, address: wallet!.address })
      const walletFile = String(document["walletFile"])
      assert.strictEqual(statSync(walletFile).mode & 0o777, 0o600)
      const key = wallet!.privateKey.slice(2)
      assert.include(readFileSync(walletFile, "utf8"), key)
      assert.notInclude(dev.said + JSON.stringify(document) + readFileSync(join(dev.home, "config.json"), "utf8"), key)
      // Only the home configures the server and the wallet: the profile is the default.
      const env = { PATH: process.env["PATH"] ?? "", HOME: dev.home, AGENTOS_HOME: dev.home }
      const args = ["mailbox", "create", freshName(), "--yes", "--max-amount", "0.25", "--json"]
      const bought = await runCli(args, { cwd: dev.home, env })
      assert.strictEqual(bought.code, 0, bought.stderr)
      const healthy = await runCli(["doctor", "--json"], { cwd: dev.home, env })
      assert.strictEqual(healthy.code, 0, healthy.stderr)
      const { checks } = JSON.parse(healthy.stdout) as { checks: ReadonlyArray<{ name: string; status: string }> }
      assert.isEmpty(checks.filter(({ status }) => status !== "ok"))
    })

    it("leaves no sandbox behind when it is killed", async () => {
      const customer = await rig.customer()
      const { child, outcome } = customer.follow(["dev", "--port", "0", "--data", join(customer.home, "sandbox")], {
        cwd: REPOSITORY
      })
      await new Promise<void>((resolve) => {
        child.stderr?.on("data", (text) => String(text).includes("Starting") && resolve())
      })
      const family = familyOf(child.pid!)
      assert.isAbove(family.length, 1)
      child.kill("SIGKILL")
      await outcome
      await untilGone(family, END_MILLIS)
    })

    it("stops the sandbox and all its processes on Ctrl-C", async ({ expect }) => {
      const { dev } = rig
      const family = familyOf(dev.process.pid!)
      // At least the sandbox, its database, its chain and its server.
      assert.isAbove(family.length, 4)
      assert.strictEqual(await dev.interrupt(), 0, dev.said)
      assert.include(dev.said, "The sandbox has stopped.")
      await untilGone(family, END_MILLIS)
      const masks = new Masks([
        [dev.directory, "DATA"],
        [dev.home, "~"]
      ])
      const stdout = `${JSON.stringify(await dev.document, undefined, 2)}\n`
      const seen = throughPipes("agentctl dev --port 0 --data DATA --json", { stdout, stderr: dev.said, code: 0 })
      await expect(masks.of(seen)).toMatchFileSnapshot(goldenOf("program", "dev ready"))
    })
  })
}
