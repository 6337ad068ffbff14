import { readFileSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import type { CliCustomer, CliRig } from "./CliRig.ts"
import { PaidProxy } from "./PaidProxy.ts"

const PRICE = 250_000n
const CONSENT = ["--yes", "--max-amount", "0.25"]
const create = (name: string) => ["mailbox", "create", name, ...CONSENT]

const mailboxesOf = async (customer: CliCustomer): Promise<ReadonlyArray<string>> => {
  const { code, stderr, stdout } = await customer.runHere(["mailbox", "list", "--json"])
  assert.strictEqual(code, 0, stderr)
  return (JSON.parse(stdout) as { items: ReadonlyArray<{ localPart: string }> }).items.map(({ localPart }) => localPart)
}

/** Asserts one mailbox, one charge and no open payment. */
const assertBoughtOnce = async (customer: CliCustomer, name: string): Promise<void> => {
  assert.deepStrictEqual(await customer.charges(), [PRICE])
  assert.deepStrictEqual(await mailboxesOf(customer), [name])
  const open = await customer.runHere(["payments", "list", "--open", "--json"])
  assert.deepStrictEqual(JSON.parse(open.stdout), { items: [] })
}

const withProxy = async (rig: CliRig, use: (proxy: PaidProxy, customer: CliCustomer) => Promise<void>) => {
  const proxy = await PaidProxy.start(rig.sandbox.baseUrl)
  try {
    await use(proxy, await rig.customer({ baseUrl: proxy.url }))
  } finally {
    await proxy.stop()
  }
}

export const paymentSuite = (rig: CliRig): void => {
  describe("payments of agentctl", () => {
    it("buy with a new wallet, and again with the saved token", async () => {
      const customer = await rig.customer()
      const [first, second] = [freshName(), freshName()]
      const bought = await customer.runHere([...create(first), "--json"])
      assert.strictEqual(bought.code, 0, bought.stderr)
      assert.deepNestedInclude(JSON.parse(bought.stdout), {
        "mailbox.localPart": first,
        "payment.amount": "0.25",
        "payment.baseUnits": String(PRICE),
        "authentication.accessTokenSaved": true
      })
      assert.notMatch(bought.stdout + bought.stderr, /at_v1_/)
      const again = await customer.runHere(create(second))
      assert.strictEqual(again.code, 0, again.stderr)
      assert.deepStrictEqual(await customer.charges(), [PRICE, PRICE])
      assert.sameMembers([...(await mailboxesOf(customer))], [first, second])
    })

    it("keep the receipt, which verifies with the key of the server and not with another payment", async () => {
      const customer = await rig.customer()
      await customer.runHere(create(freshName()))
      await customer.runHere(create(freshName()))
      const [id, other] = customer.payments()
      const verified = await customer.runHere(["payments", "receipt", id!, "--json"])
      assert.strictEqual(verified.code, 0, verified.stderr)
      const { jws, receipt } = JSON.parse(verified.stdout) as { jws: string; receipt: Record<string, unknown> }
      assert.strictEqual(receipt["resourceUrl"], `${rig.sandbox.baseUrl}/api/v1/email/mailboxes`)

      const path = customer.journalPath(other!)
      const entry = JSON.parse(readFileSync(path, "utf8")) as { state: { receipt: string } }
      const refusedAfter = async (changed: string) => {
        entry.state.receipt = changed
        writeFileSync(path, JSON.stringify(entry), { mode: 0o600 })
        const refused = await customer.runHere(["payments", "receipt", other!])
        assert.strictEqual(refused.code, 1, refused.stdout)
        return refused.stderr
      }
      const [header, payload, signature] = entry.state.receipt.split(".")
      const later = Buffer.from(payload!, "base64url").toString().replace('"issuedAt":1', '"issuedAt":2')
      const forged = [header, Buffer.from(later).toString("base64url"), signature].join(".")
      assert.include(await refusedAfter(forged), "it is not signed by did:web:")
      assert.include(await refusedAfter(jws), "its transaction is not that of the payment")
    })

    it("leave nothing behind if killed before the signature", async () => {
      const customer = await rig.customer()
      const name = freshName()
      const killed = await customer.run(create(name), { killAt: "agreed" })
      assert.strictEqual(killed.signal, "SIGKILL", killed.stderr)
      assert.isEmpty(await customer.charges())
      const resumed = await customer.runHere(["payments", "resume"])
      assert.strictEqual(resumed.code, 0, resumed.stderr)
      assert.include(resumed.stderr, "No open payments.")
      const bought = await customer.runHere(create(name))
      assert.strictEqual(bought.code, 0, bought.stderr)
      await assertBoughtOnce(customer, name)
    })

    for (const [step, state] of [
      ["written", "prepared"],
      ["sending", "sent"],
      ["answered", "sent"],
      ["kept", "sent"]
    ] as const)
      it(`killed at the step "${step}" are completed by payments resume with one charge`, async () => {
        const customer = await rig.customer()
        const name = freshName()
        const killed = await customer.run(create(name), { killAt: step })
        assert.strictEqual(killed.signal, "SIGKILL", killed.stderr)
        assert.deepStrictEqual(customer.states(), [state])
        const resumed = await customer.runHere(["payments", "resume", "--json"])
        assert.strictEqual(resumed.code, 0, resumed.stderr)
        assert.deepNestedInclude(JSON.parse(resumed.stdout), {
          "payment.open": false,
          "payment.state.paymentState": "settled",
          "data.mailbox.localPart": name
        })
        await assertBoughtOnce(customer, name)
      })

    it("killed before the output show their result with payments resume", async () => {
      const customer = await rig.customer()
      const name = freshName()
      const killed = await customer.run(create(name), { killAt: "closed" })
      assert.deepStrictEqual([killed.signal, killed.stdout], ["SIGKILL", ""], killed.stderr)
      const [id] = customer.payments()
      const resumed = await customer.runHere(["payments", "resume", id!, "--json"])
      assert.strictEqual(resumed.code, 0, resumed.stderr)
      assert.deepNestedInclude(JSON.parse(resumed.stdout), { "data.mailbox.localPart": name })
      await assertBoughtOnce(customer, name)
    })

    it("killed while the server works are completed by payments resume with one charge", () =>
      withProxy(rig, async (proxy, customer) => {
        const name = freshName()
        const { child, outcome } = customer.follow(create(name))
        proxy.onHanded = () => child.kill("SIGKILL")
        assert.strictEqual((await outcome).signal, "SIGKILL")
        assert.strictEqual(proxy.handed, 1)
        proxy.onHanded = () => undefined
        const resumed = await customer.runHere(["payments", "resume"])
        assert.strictEqual(resumed.code, 0, resumed.stderr)
        await assertBoughtOnce(customer, name)
      }))

    it("with lost answers warn not to pay again and are completed by payments resume", () =>
      withProxy(rig, async (proxy, customer) => {
        const name = freshName()
        proxy.manner = "loses"
        const lost = await customer.runHere(create(name))
        assert.strictEqual(lost.code, 8, lost.stderr)
        assert.include(lost.stderr, "do not pay again")
        assert.include(lost.stderr, `agentctl payments resume ${customer.payments()[0]}`)
        proxy.manner = "through"
        const resumed = await customer.runHere(["payments", "resume"])
        assert.strictEqual(resumed.code, 0, resumed.stderr)
        await assertBoughtOnce(customer, name)
      }))

    it("interrupted before the answer exit with 8 and are completed by payments resume", () =>
      withProxy(rig, async (proxy, customer) => {
        const name = freshName()
        proxy.manner = "holds"
        const { child, outcome } = customer.follow(create(name))
        proxy.onHanded = () => child.kill("SIGINT")
        const interrupted = await outcome
        assert.strictEqual(interrupted.code, 8, interrupted.stderr)
        proxy.manner = "through"
        const resumed = await customer.runHere(["payments", "resume", "--all"])
        assert.strictEqual(resumed.code, 0, resumed.stderr)
        await assertBoughtOnce(customer, name)
      }))

    it("resumed by two processes are completed by one of them with one charge", async () => {
      const customer = await rig.customer()
      const name = freshName()
      await customer.run(create(name), { killAt: "sending" })
      const [id] = customer.payments()
      const both = await Promise.all([1, 2].map(() => customer.run(["payments", "resume", id!])))
      const codes = both.map(({ code }) => code)
      assert.include(codes, 0, both[0]!.stderr)
      // The other one finds the payment locked or answered.
      assert.isEmpty(codes.filter((code) => code !== 0 && code !== 6))
      await assertBoughtOnce(customer, name)
    })
  })
}
