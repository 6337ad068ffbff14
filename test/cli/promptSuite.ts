import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import type { CliCustomer, CliRig } from "./CliRig.ts"
import { hasTmux, Terminal } from "./Terminal.ts"

const QUESTION = "Pay 0.25 USDT? [y/N]"

const inTerminal = async (
  customer: CliCustomer,
  args: string,
  use: (terminal: Terminal) => Promise<void>
): Promise<void> => {
  const terminal = await Terminal.open(customer.command(args), customer.env)
  try {
    await use(terminal)
  } finally {
    await terminal.close()
  }
}

/** What a person is asked, and what becomes of each answer, in a terminal. */
export const promptSuite = (rig: CliRig): void => {
  const suite = hasTmux ? describe : describe.skip
  suite(hasTmux ? "the question before a payment" : "the question before a payment (tmux is not installed)", () => {
    it("shows what is paid and for what, and pays after a yes", async () => {
      const customer = await rig.customer()
      const name = freshName()
      await inTerminal(customer, `mailbox create ${name}`, async (terminal) => {
        const asked = await terminal.until(QUESTION)
        const { asset, network, payTo } = rig.sandbox.chain
        for (const text of [`the mailbox ${name}`, "0.25 USDT", asset, network, payTo, customer.address, "100.00 USDT"])
          assert.include(asked, text)
        assert.isEmpty(await customer.charges())
        // Neither yes nor no is asked about again.
        await terminal.press("perhaps", "Enter")
        await terminal.until("Please answer yes or no.")
        await terminal.press("y", "Enter")
        const screen = await terminal.until("[exit 0]")
        assert.include(screen, "Paid 0.25 USDT.")
        assert.include(screen, `${name}@`)
        assert.notInclude(screen, "at_v1_")
      })
      assert.deepStrictEqual(await customer.charges(), [250_000n])
    })

    for (const [answer, keys, ending] of [
      ["no", ["n", "Enter"], "[exit 2]"],
      ["nothing but Enter", ["Enter"], "[exit 2]"],
      ["a closed input", ["C-d"], "[exit 2]"],
      ["Ctrl-C", ["C-c"], "[exit 130]"]
    ] as const)
      it(`signs nothing after ${answer}, and says so by ${ending}`, async () => {
        const customer = await rig.customer()
        await inTerminal(customer, `mailbox create ${freshName()}`, async (terminal) => {
          await terminal.until(QUESTION)
          await terminal.press(...keys)
          await terminal.until(ending)
        })
        assert.isFalse(existsSync(join(customer.home, "journal")))
        assert.isEmpty(await customer.charges())
      })

    it("is not asked where the maximum is lower", async () => {
      const customer = await rig.customer()
      await inTerminal(customer, `mailbox create ${freshName()} --max-amount 0.24`, async (terminal) => {
        const screen = await terminal.until("[exit 7]")
        assert.notInclude(screen, QUESTION)
      })
      assert.isEmpty(await customer.charges())
    })
  })
}
