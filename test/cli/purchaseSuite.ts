import { assert, describe, it } from "vitest"
import type { CliRig } from "./CliRig.ts"
import { PRICES } from "./drive/Drive.ts"

/** What a purchase shows to a program that wants no JSON. */
export const purchaseSuite = (rig: CliRig): void => {
  describe("a number of agentctl", () => {
    it("shows the secret of callbacks in no pipe but as JSON, and again when it is asked for", async () => {
      const customer = await rig.customer()
      const agent = ["--agent-name", "Ada", "--webhook", rig.sandbox.agentWebhookUrl]
      const bought = await customer.run(["number", "buy", "ca", ...agent, "--yes", "--max-amount", "5"])
      assert.strictEqual(bought.code, 0, bought.stderr)
      const [id] = customer.payments()
      assert.include(bought.stderr, `agentctl payments resume ${id} --json`)
      const again = await customer.run(["payments", "resume", id!, "--json"])
      assert.strictEqual(again.code, 0, again.stderr)
      const { data } = JSON.parse(again.stdout) as { data: { callbackVerificationSecret: string } }
      assert.isAbove(data.callbackVerificationSecret.length, 20)
      assert.notInclude(bought.stdout + bought.stderr, data.callbackVerificationSecret)
      assert.deepStrictEqual(await customer.charges(), [PRICES.number])
    })
  })
}
