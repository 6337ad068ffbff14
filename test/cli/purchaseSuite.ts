import { assert, describe, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import type { CliCustomer, CliRig } from "./CliRig.ts"
import { PRICES } from "./drive/Drive.ts"

/** Long enough to extend the call meanwhile, in seconds of the carrier's clock; and the speed-up of the rest. */
const SILENCE_SECONDS = 50
const SPEED = 20
const SAID =
  /^[\d:]{8} {2}agent {3}This is Ada\.\n[\d:]{8} {2}caller {2}Who's there\?\n(?:.*\n)*[\d:]{8} {2}caller {2}Goodbye\.\n/

/** The tested fields of the answers. */
interface Data {
  readonly number: string
  readonly callbackVerificationSecret: string
  readonly deleted: boolean
  readonly messagesDeleted: number
  readonly mailbox: { readonly address: string }
  readonly call: { readonly callId: string; readonly status: string; readonly authorizedSeconds: number }
  readonly phoneNumber: { readonly inboundAllowance: { readonly purchasedSeconds: number } }
}

const paying = (customer: CliCustomer) => async (args: ReadonlyArray<string>, stdin?: string) => {
  const consent = ["--yes", "--max-amount", "5", "--json"]
  const { code, stderr, stdout } = await customer.runHere([...args, ...consent], stdin === undefined ? {} : { stdin })
  assert.strictEqual(code, 0, stderr)
  assert.notMatch(stdout + stderr, /at_v1_/)
  return JSON.parse(stdout) as Data
}

/** Buys everything that agentctl can buy, once. */
export const purchaseSuite = (rig: CliRig): void => {
  describe("purchases of agentctl", () => {
    it("buy a mailbox, its changes and its messages", async () => {
      const customer = await rig.customer()
      const buy = paying(customer)
      const name = freshName()
      const { mailbox } = await buy(["mailbox", "create", name, "--display-name", "Ada"])
      const { address } = mailbox
      const own = await customer.runHere(["mailbox", "create", name, "--yes", "--max-amount", "5", "--json"])
      assert.deepStrictEqual([own.code, JSON.parse(own.stdout)], [0, { mailbox, payment: null }], own.stderr)
      assert.include(own.stderr, `${address} is yours already. Nothing was paid.`)
      const changed = await buy(["mailbox", "update", address, "--display-name", "Ada L."])
      assert.deepNestedInclude(changed, { "mailbox.displayName": "Ada L." })
      const to = ["--to", "bob@outside.example", "--to", "eve@outside.example", "--subject", "Hello"]
      const sent = await buy(["mail", "send", ...to], "From standard input.\n")
      assert.deepNestedInclude(sent, { "message.text": "From standard input.\n", "message.from": address })
      const deleted = await buy(["mailbox", "delete", address])
      assert.deepStrictEqual([deleted.deleted, deleted.messagesDeleted], [true, 1])
      assert.deepStrictEqual(await customer.charges(), [PRICES.mailbox, PRICES.change, PRICES.message, PRICES.change])
    })

    it("buy a number, its days and minutes, and its calls", async () => {
      const customer = await rig.customer()
      const buy = paying(customer)
      const agent = ["--agent-name", "Ada", "--webhook", rig.sandbox.agentWebhookUrl]
      const bought = await buy(["number", "buy", "us", ...agent])
      const { number } = bought
      assert.isAbove(bought.callbackVerificationSecret.length, 20)
      await buy(["number", "renew", number])
      const { phoneNumber } = await buy(["number", "add-minutes", number])
      assert.strictEqual(phoneNumber.inboundAllowance.purchasedSeconds, 600)
      const carrier = new PhoneCarrier(rig.sandbox)
      const person = await carrier.person({ lines: ["Who's there?", { silence: SILENCE_SECONDS }, "Goodbye."] })
      const placed = await buy(["call", "start", "--to", person, "--minutes", "1", "--greeting", "This is Ada."])
      assert.deepNestedInclude(placed, { "call.toNumber": person, "call.fromNumber": number })
      const { callId } = placed.call
      const show = async () => {
        const shown = await customer.runHere(["call", "show", callId, "--json"])
        assert.strictEqual(shown.code, 0, shown.stderr)
        return (JSON.parse(shown.stdout) as Data).call
      }
      const following = customer.run(["call", "transcript", callId, "--follow"])
      await carrier.until(show, ({ status }) => status === "in_progress")
      const extended = await buy(["call", "extend", callId])
      assert.strictEqual(extended.call.authorizedSeconds, 120)
      // Skips the rest of the silence.
      await carrier.speed(SPEED)
      const followed = await following
      await carrier.speed(1)
      assert.strictEqual(followed.code, 0, followed.stderr)
      assert.match(followed.stdout, SAID)
      assert.deepInclude(await show(), { status: "ended", authorizedSeconds: 120 })
      const refused = await customer.runHere(["number", "release", number])
      assert.strictEqual(refused.code, 3, refused.stderr)
      const released = await customer.runHere(["number", "release", number, "--yes", "--json"])
      assert.strictEqual(released.code, 0, released.stderr)
      const { call, minutes, number: thirtyDays } = PRICES
      assert.deepStrictEqual(await customer.charges(), [thirtyDays, thirtyDays, minutes, call, call])
    })

    it("print the callback secret through pipes only as JSON, also later", async () => {
      const customer = await rig.customer()
      const agent = ["--agent-name", "Ada", "--webhook", rig.sandbox.agentWebhookUrl]
      const bought = await customer.runHere(["number", "buy", "ca", ...agent, "--yes", "--max-amount", "5"])
      assert.strictEqual(bought.code, 0, bought.stderr)
      const [id] = customer.payments()
      assert.include(bought.stderr, `agentctl payments resume ${id} --json`)
      const again = await customer.runHere(["payments", "resume", id!, "--json"])
      assert.strictEqual(again.code, 0, again.stderr)
      const { data } = JSON.parse(again.stdout) as { data: { callbackVerificationSecret: string } }
      assert.isAbove(data.callbackVerificationSecret.length, 20)
      assert.notInclude(bought.stdout + bought.stderr, data.callbackVerificationSecret)
      assert.deepStrictEqual(await customer.charges(), [PRICES.number])
    })
  })
}
