import { createTransport } from "nodemailer"
import { assert, describe, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import type { CliRig } from "./CliRig.ts"
import { hasTmux, Terminal } from "./Terminal.ts"

/** The first session of the README: from nothing to the first received mail in five commands. */
export const sessionSuite = (rig: CliRig): void => {
  const suite = hasTmux ? describe : describe.skip
  suite(hasTmux ? "a first session in a terminal" : "a first session in a terminal (tmux is not installed)", () => {
    it("receives the first mail in five commands", async () => {
      const customer = await rig.customer()
      const { emailDomain, mail } = rig.sandbox
      const name = freshName()
      const address = `${name}@${emailDomain}`
      const terminal = await Terminal.open({ cwd: customer.home, env: customer.env })
      const screenOf = async (args: string, use: () => Promise<void> = async () => {}): Promise<string> => {
        await terminal.type(`agentctl ${args}`)
        await use()
        const { exit, text } = await terminal.ended()
        assert.strictEqual(exit, 0, text)
        return text
      }

      const doctor = await screenOf("doctor")
      assert.match(doctor, /server +ok/)
      assert.match(doctor, /balance +ok +100\.00/)
      assert.match(doctor, /token +warning/)
      await screenOf(`mailbox create ${name}`, async () => {
        await terminal.until("[y/N]")
        await terminal.press("y", "Enter")
      })
      const waited = await screenOf("mail wait --timeout 1m", async () => {
        await terminal.until("Waiting 1 min")
        const transport = createTransport({ host: mail.host, port: mail.port, secure: false, ignoreTLS: true })
        const subject = "Welcome \u001b]0;owned\u0007"
        await transport.sendMail({ from: "bob@outside.example", to: address, subject, text: "Your code is 482 913." })
      })
      for (const text of ["bob@outside.example", address, "Welcome", "Your code is 482 913."])
        assert.include(waited, text)
      assert.match(await screenOf("mail wait --otp --since 10m"), /^482913$/m)
      const events = await screenOf("events tail --max 2")
      await terminal.close()
      assert.match(events, /payment\.completed .*\n.* email\.received +bob@outside\.example \(DMARC/)
    })
  })
}
