import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeEach, describe, it } from "vitest"
import { errorReply, useApiDouble } from "../support/ApiDouble.ts"
import { challenge, KEY, TOKEN } from "../support/PaidAnswers.ts"
import { useProgram } from "../support/Program.ts"

const program = useProgram()
const api = useApiDouble()
const ID = "0190f3c2-0000-7000-8000-000000000001"
const OTHER = "0190f3c2-0000-7000-8000-000000000002"
const NUMBER = "+14155550100"
const CONSENT = ["--yes", "--max-amount", "5"]

const run = (args: ReadonlyArray<string>, options: { readonly stdin?: string; readonly cwd?: string } = {}) =>
  program.run(args, {
    ...options,
    env: {
      AGENTOS_BASE_URL: api.url(),
      AGENTOS_PRIVATE_KEY: KEY,
      AGENTOS_TOKEN: TOKEN,
      AGENTOS_RPC_URL: `${api.url()}/rpc`
    }
  })

const declined = errorReply(402, "PAYMENT_REQUIRED", { paymentState: "none" })

beforeEach(() => {
  api.seen.splice(0)
  api.on("GET /api/v1/email/mailboxes/query", { data: { items: [{ mailboxId: ID, address: "ada@agents.test" }] } })
  const number = (phoneNumberId: string, createdAt: string, status: string) => ({
    phoneNumberId,
    number: NUMBER,
    agentName: "Ada",
    createdAt,
    status
  })
  api.on("GET /api/v1/phone/numbers", {
    data: {
      items: [number(OTHER, "2026-01-01T00:00:00.000Z", "released"), number(ID, "2026-02-01T00:00:00.000Z", "active")]
    }
  })
})

const AGENT = ["--agent-name", "Ada", "--webhook", "https://agent.example/voice"]
const agent = { agentName: "Ada", agentWebhookUrl: "https://agent.example/voice" }
const SEND = ["mail", "send", "--to", "bob@outside.example", "--subject", "Hi"]
const message = { mailboxId: ID, to: ["bob@outside.example"], subject: "Hi" }

const calls: ReadonlyArray<readonly [args: ReadonlyArray<string>, path: string, body: unknown]> = [
  [
    ["mailbox", "update", "ada@agents.test", "--active", "false"],
    "email/mailboxes/update",
    { mailboxId: ID, active: false }
  ],
  [["mailbox", "delete", ID], "email/mailboxes/delete", { mailboxId: ID }],
  [
    [...SEND, "--cc", "c@d.example", "--bcc", "e@f.example", "--text", "Yes"],
    "email/messages/send",
    { ...message, cc: ["c@d.example"], bcc: ["e@f.example"], text: "Yes" }
  ],
  [
    ["number", "buy", "us", ...AGENT, "--area-code", "415", "--greeting", "Hello"],
    "phone/purchase-us-number-30-days",
    { ...agent, areaCode: "415", beginMessage: "Hello" }
  ],
  [
    ["number", "buy", "us"],
    "phone/purchase-us-number-30-days",
    { agentName: "Agent", agentWebhookUrl: "https://agent.invalid/" }
  ],
  [["number", "buy", "ca", ...AGENT], "phone/purchase-canada-number-30-days", agent],
  [["number", "renew", NUMBER], "phone/renew-number-30-days", { phoneNumberId: ID }],
  [["number", "add-minutes", OTHER], "phone/add-inbound-minutes-10", { phoneNumberId: OTHER }],
  [["call", "start", "--to", "+12125550100"], "phone/call-1-minute", { phoneNumberId: ID, toNumber: "+12125550100" }],
  [
    ["call", "start", "--to", "+12125550100", "--minutes", "5", "--from", NUMBER, "--greeting", "Hi"],
    "phone/call-5-minutes",
    { phoneNumberId: ID, toNumber: "+12125550100", initialGreeting: "Hi" }
  ],
  [["call", "extend", ID], "phone/extend-call-1-minute", { callId: ID }]
]

describe("paying commands", () => {
  for (const [args, path, body] of calls)
    it(`sends the same fields for the quote and the payment: ${args.join(" ")}`, async () => {
      api.on(`POST /api/v1/${path}`, challenge(), declined)
      const { code, stderr } = await run([...args, ...CONSENT])
      assert.strictEqual(code, 7, stderr)
      const sent = api.seen.filter(({ url }) => url === `/api/v1/${path}`)
      assert.deepStrictEqual(
        sent.map((request) => [JSON.parse(request.body), request.headers.authorization]),
        [
          [body, `Bearer ${TOKEN}`],
          [body, `Bearer ${TOKEN}`]
        ]
      )
    })

  /** The longest argument that Linux accepts. */
  const ARGUMENT_BYTES_MAX = 131_071
  const filled = (start: string) => start.padEnd(ARGUMENT_BYTES_MAX, "x")
  it.for([
    ["--text VALUE", ["--text", filled("- ")], { text: filled("- ") }],
    ["--text=VALUE", [filled("--text=-")], { text: filled("--text=-").slice(7) }],
    ["-sVALUE", ["--text", "a", filled("-s-")], { text: "a", subject: filled("-s-").slice(2) }],
    ["-qsVALUE", ["--text", "a", filled("-qs-")], { text: "a", subject: filled("-qs-").slice(3) }],
    ["-s VALUE", ["--text", "a", "-s", filled("- ")], { text: "a", subject: filled("- ") }],
    ["-qs VALUE", ["--text", "a", "-qs", filled("- ")], { text: "a", subject: filled("- ") }]
  ] as const)("sends a value of the longest argument that Linux accepts, given as %s", async ([, flags, fields]) => {
    api.on("POST /api/v1/email/messages/send", challenge(), declined)
    const { code, stderr } = await run([...SEND, ...flags, ...CONSENT])
    assert.strictEqual(code, 7, stderr.slice(0, 300))
    assert.deepStrictEqual(JSON.parse(api.seen.at(-1)!.body), { ...message, ...fields })
  })

  it("sends the longest argument that Linux accepts, given after --", async () => {
    api.on("POST /api/v1/email/mailboxes", challenge(), declined)
    const { code, stderr } = await run(["mailbox", "create", ...CONSENT, "--", filled("-")])
    assert.strictEqual(code, 7, stderr.slice(0, 300))
    assert.deepStrictEqual(JSON.parse(api.seen.at(-1)!.body), { localPart: filled("-") })
  })

  it("reads the text of a message from standard input and HTML from a file", async () => {
    const cwd = program.folder()
    writeFileSync(join(cwd, "hello.html"), "<p>Hello</p>")
    api.on("POST /api/v1/email/messages/send", challenge(), declined)
    const { code, stderr } = await run([...SEND, "--html", "hello.html", ...CONSENT], { stdin: "Hello\n", cwd })
    assert.strictEqual(code, 7, stderr)
    assert.deepStrictEqual(JSON.parse(api.seen.at(-1)!.body), { ...message, text: "Hello\n", html: "<p>Hello</p>" })
  })

  const slips: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
    [[...SEND, "--text", "a", "--text-file", "b"], "not both"],
    [SEND, "Standard input is empty"],
    [["mail", "send", "--subject", "Hi", "--text", "a"], "Missing flag --to."],
    [["mailbox", "update", ID], "Nothing to update."],
    [["call", "start"], "Missing flag --to."],
    [["call", "start", "--to", "+12125550100", "--minutes", "3"], 'Invalid --minutes "3". Choose 1 or 5.'],
    [["number", "release", ID], "Pass --yes."]
  ]
  for (const [args, says] of slips)
    it(`rejects without a charge: ${args.join(" ")}`, async () => {
      const { code, stderr } = await run(args[1] === "release" ? args : [...args, ...CONSENT])
      assert.strictEqual(code, 3, stderr)
      assert.include(stderr, says)
      assert.isEmpty(api.seen.filter(({ method }) => method === "POST"))
    })

  it("releases a number after confirmation, without a payment", async () => {
    const released = { phoneNumberId: ID, number: NUMBER, status: "released", entitlement: {}, inboundAllowance: {} }
    api.on("POST /api/v1/phone/release-number", { data: { phoneNumber: released } })
    const { code, stderr, stdout } = await run(["number", "release", NUMBER, "--yes", "--json"])
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(JSON.parse(stdout), { phoneNumber: released })
    assert.deepStrictEqual(JSON.parse(api.seen.at(-1)!.body), { phoneNumberId: ID, confirmRelease: true })
  })
})
