import type { CommandName } from "@agentos/cli/testing"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"
import { assert, describe, it, vi } from "vitest"
import { freshName } from "../support/Agent.ts"
import type { CliRig } from "./CliRig.ts"
import { OPERATOR_TOKEN } from "./DevProgram.ts"

/** Commands whose output the tests of packages/cli check in process. Here each runs once against the service. */
export const JOURNEY_COMMANDS = [
  "token rotate",
  "tenant revoke-tokens",
  "mail reply",
  "mail forward",
  "mail attachments",
  "mail raw",
  "call list",
  "number voices",
  "voice answer",
  "webhook set",
  "webhook show",
  "webhook delete",
  "webhook test",
  "webhook log",
  "sandbox mail",
  "sandbox outbox",
  "sandbox report",
  "sandbox call",
  "sandbox fund",
  "wallet allow"
] as const satisfies ReadonlyArray<CommandName>
export type JourneyName = (typeof JOURNEY_COMMANDS)[number]

const PAY = ["--yes", "--max-amount", "5"]

/** One customer writes and calls with people outside, and loses the access token. */
export const journeySuite = (rig: CliRig): void => {
  describe("a customer and the world outside", () => {
    it("exchanges mail and calls, and recovers the token", async () => {
      const customer = await rig.customer()
      const { agentWebhookUrl, emailDomain } = rig.sandbox
      const data = ["--data", join(customer.home, "sandbox")]
      mkdirSync(data[1]!)
      writeFileSync(join(data[1]!, "sandbox.json"), JSON.stringify(rig.sandbox))
      writeFileSync(join(customer.home, "invoice.txt"), "INVOICE 7\n")
      const ran = new Set<string>()
      const run = async <Document>(...args: ReadonlyArray<string>): Promise<Document> => {
        ran.add(args.slice(0, 2).join(" "))
        const { code, stderr, stdout } = await customer.runHere([...args, "--json"])
        assert.strictEqual(code, 0, `${args.join(" ")}\n${stderr}`)
        return JSON.parse(stdout) as Document
      }

      const { address: wallet } = await run<{ readonly address: string }>("wallet", "address")
      const balance = async () => {
        const { items } = await run<{ readonly items: ReadonlyArray<{ readonly baseUnits: string }> }>(
          "wallet",
          "balance"
        )
        return BigInt(items[0]!.baseUnits)
      }
      const unfunded = await balance()
      const funded = await run<{ readonly address: string }>("sandbox", "fund", "--amount", "2.50", ...data)
      assert.strictEqual(funded.address, wallet)
      assert.strictEqual((await balance()) - unfunded, 2_500_000n)

      const address = `${freshName()}@${emailDomain}`
      await run("mailbox", "create", address.split("@")[0]!, ...PAY)
      const { mailbox } = await run<{ readonly mailbox: { readonly senderPolicy: object } }>(
        "mailbox",
        "update",
        address,
        "--sender-policy",
        "listed",
        "--allow",
        "outside.example",
        ...PAY
      )
      assert.deepEqual(mailbox.senderPolicy, { mode: "listed", allow: ["outside.example"], block: [] })
      const { network, rpcUrl } = rig.sandbox.chains[1]!
      await run("sandbox", "fund", "--amount", "2.50", "--network", network, ...data)
      const onSecond = ["mailbox", "update", address, "--display-name", "Ada", "--network", network, ...PAY]
      const unallowed = await customer.runHere(onSecond)
      assert.strictEqual(unallowed.code, 7)
      assert.include(unallowed.stderr, `agentctl wallet allow ${network}`)
      const allow = ["wallet", "allow", "--yes", "--max-cost", "0.01", "--rpc-url", rpcUrl]
      type Allowed = { readonly transaction: string | null }
      assert.match((await run<Allowed>(...allow)).transaction ?? "", /^0x[0-9a-f]{64}$/)
      const { payment } = await run<{ readonly payment: { readonly network: string } }>(...onSecond)
      assert.strictEqual(payment.network, network)
      assert.isNull((await run<Allowed>(...allow)).transaction)

      const stranger = ["sandbox", "mail", "--to", address, "--from", "eve@elsewhere.example", ...data]
      assert.include((await customer.runHere(stranger)).stderr, "550")
      await run("sandbox", "mail", "--to", address, "--subject", "Your order", "--attach", "invoice.txt", ...data)
      const { message } = await run<{ readonly message: Received }>("mail", "wait", "--from", "outside.example")
      assert.deepInclude(message, { subject: "Your order" })
      assert.deepInclude(message.attachments[0], { filename: "invoice.txt", sizeBytes: 10 })

      const send = ["mail", "send", "--to", "bob@outside.example", "--subject", "Invoice", "--text", "Here it is."]
      const sent = await run<{ readonly message: Received }>(...send, "--attach", "invoice.txt", ...PAY)
      assert.deepInclude(sent.message.attachments[0], { filename: "invoice.txt", sizeBytes: 10 })
      const reply = await run<{ readonly message: Received }>(
        "mail",
        "reply",
        message.messageId,
        "--text",
        "Paid.",
        "--attach",
        "invoice.txt",
        ...PAY
      )
      assert.deepInclude(reply.message, { subject: "Re: Your order", threadId: message.threadId })

      const { messageId } = message
      const kept = await run<{ readonly items: ReadonlyArray<{ readonly path: string }> }>(
        "mail",
        "attachments",
        messageId,
        "--download",
        "kept"
      )
      assert.strictEqual(readFileSync(kept.items[0]!.path, "utf8"), "INVOICE 7\n")
      ran.add("mail raw")
      const { stdout: raw } = await customer.runHere(["mail", "raw", messageId])
      assert.match(raw, /\r\nSubject: Your order\r\n/)
      const forward = ["mail", "forward", messageId, "--to", "carol@outside.example", "--text", "Is this yours?"]
      const forwarded = await run<{ readonly message: Received }>(...forward, ...PAY)
      assert.deepInclude(forwarded.message, { subject: "Fwd: Your order", threadId: forwarded.message.messageId })
      assert.deepInclude(forwarded.message.attachments[0], { filename: "invoice.txt", sizeBytes: 10 })
      const search = ["mail", "list", "--search", "order", "--direction", "inbound", "--from", "bob@outside.example"]
      const found = await run<{ readonly items: ReadonlyArray<Received> }>(...search, "--since", "1h", "--until", "now")
      assert.deepStrictEqual(
        found.items.map((item) => item.messageId),
        [messageId]
      )
      const thread = await run<{ readonly items: ReadonlyArray<Received> }>(
        "mail",
        "list",
        "--thread",
        message.threadId
      )
      assert.sameMembers(
        thread.items.map((item) => item.messageId),
        [messageId, reply.message.messageId]
      )

      const outbox = await run<{ readonly items: ReadonlyArray<{ readonly from: string; readonly text: string }> }>(
        "sandbox",
        "outbox",
        "bob@outside.example",
        ...data
      )
      assert.deepInclude(outbox.items[0], { from: address, text: "Paid.\n" })

      // Reports on the reply, and further mail to a recipient that bounced is refused before payment.
      await run("sandbox", "report", "bob@outside.example", ...data)
      await vi.waitFor(
        async () => {
          const read = await run<{ readonly message: Received }>("mail", "read", reply.message.messageId)
          assert.deepInclude(read.message.recipients[0], { address: "bob@outside.example", status: "bounced" })
        },
        { timeout: 60_000, interval: 500 }
      )
      const { code } = await customer.runHere([...send, ...PAY])
      assert.strictEqual(code, 3)

      const buy = ["number", "buy", "us", "--agent-name", "Ada", "--webhook", agentWebhookUrl, ...PAY]
      const { number } = await run<{ readonly number: string }>(...buy)
      await run("number", "add-minutes", number, ...PAY)
      const { call } = await run<{ readonly call: { readonly state: string; readonly heard: ReadonlyArray<string> } }>(
        "sandbox",
        "call",
        number,
        "--say",
        "Is this Ada?",
        ...data
      )
      assert.strictEqual(call.state, "completed")
      assert.match(call.heard.join(" "), /Is this Ada\?/)

      // The carrier reports the end to the person first.
      await vi.waitFor(
        async () => {
          const { items } = await run<{ readonly items: ReadonlyArray<object> }>("call", "list", "--number", number)
          assert.lengthOf(items, 1)
          assert.deepInclude(items[0], { direction: "inbound", status: "ended", toNumber: number })
        },
        { timeout: 60_000, interval: 100 }
      )

      const silent = await run<{ readonly call: { readonly state: string } }>("sandbox", "call", number, ...data)
      assert.strictEqual(silent.call.state, "completed")

      const voices = await run<{ readonly items: ReadonlyArray<object> }>("number", "voices", "--language", "en-US")
      assert.isNotEmpty(voices.items)
      ran.add("voice answer")
      const answering = customer.follow(["voice", "answer", "--exec", 'echo "Over the socket."'])
      await new Promise<void>((resolve) =>
        answering.child.stderr?.on("data", (chunk) => String(chunk).includes("Waiting for calls.") && resolve())
      )
      const { call: answered } = await run<{ readonly call: { readonly heard: ReadonlyArray<string> } }>(
        "sandbox",
        "call",
        number,
        "--say",
        "Is this Ada?",
        ...data
      )
      answering.child.kill("SIGINT")
      assert.match(answered.heard.join(" "), /Over the socket\./)
      assert.strictEqual((await answering.outcome).code, 130)

      const { signingSecret } = await run<{ readonly signingSecret: string }>("webhook", "set", agentWebhookUrl)
      const { webhook } = await run<{ readonly webhook: object }>("webhook", "show")
      assert.deepInclude(webhook, { url: agentWebhookUrl, status: "active" })
      await run("webhook", "log")
      await run("webhook", "delete")
      const verified: Array<unknown> = []
      const endpoint = createServer((request, response) => {
        void text(request).then((body) => {
          verified.push(new Webhook(signingSecret).verify(body, request.headers as Record<string, string>))
          response.writeHead(204).end()
        })
      })
      await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve))
      const { port } = endpoint.address() as AddressInfo
      ran.add("webhook test")
      const tested = await customer.runHere(["webhook", "test", `http://127.0.0.1:${port}`], { stdin: signingSecret })
      endpoint.close()
      assert.strictEqual(tested.code, 0, tested.stderr)
      assert.deepInclude(verified[0], { type: "payment.completed", payload: { test: true } })

      await run("logout")
      assert.strictEqual((await customer.runHere(["mailbox", "list"])).code, 4)
      assert.deepInclude(await run<object>("login", "--wallet"), { loggedIn: true, address: customer.address })
      const before = await run("mailbox", "list")
      await run("token", "rotate", "--yes")
      assert.deepStrictEqual(await run("mailbox", "list"), before)
      ran.add("tenant revoke-tokens")
      const revoke = ["tenant", "revoke-tokens", customer.address, "--yes", "--json"]
      const operator = { AGENTOS_OPERATOR_TOKEN: OPERATOR_TOKEN, AGENTOS_OPERATOR_URL: rig.sandbox.operatorUrl }
      const another = { ...operator, AGENTOS_OPERATOR_TOKEN: "another" }
      assert.strictEqual((await customer.runHere(revoke, { env: another })).code, 4)
      const revoked = await customer.runHere(revoke, { env: operator })
      assert.deepInclude(JSON.parse(revoked.stdout), { wallet: customer.address.toLowerCase() }, revoked.stderr)
      assert.strictEqual((await customer.runHere(["mailbox", "list"])).code, 4)
      await run("login", "--wallet")
      assert.deepStrictEqual(await run("mailbox", "list"), before)
      assert.sameMembers(
        JOURNEY_COMMANDS.filter((name) => ran.has(name)),
        [...JOURNEY_COMMANDS]
      )
    })
  })
}

interface Received {
  readonly messageId: string
  readonly threadId: string
  readonly subject: string
  readonly recipients: ReadonlyArray<{ readonly address: string; readonly status: string }>
  readonly attachments: ReadonlyArray<{ readonly filename: string | null; readonly sizeBytes: number }>
}
