import { existsSync, readdirSync, readFileSync, statSync, watch } from "node:fs"
import { join } from "node:path"
import { acquireFileLock } from "@agentos/node/file-lock"
import { assert, beforeEach, describe, it, vi } from "vitest"
import { errorReply, type Seen, useApiDouble } from "../support/ApiDouble.ts"
import { challenge, KEY, offer, paid, PAYER, rpcReplies, TOKEN, TRANSACTION } from "../support/PaidAnswers.ts"
import { outcomeOf, useProgram } from "../support/Program.ts"

const program = useProgram()
const api = useApiDouble()
const MAILBOXES = "POST /api/v1/email/mailboxes"
const CREATE = ["mailbox", "create", "ada"]
const CONSENT = ["--yes", "--max-amount", "0.25"]

const mailbox = {
  mailboxId: "0190f3c2-0000-7000-8000-000000000001",
  address: "ada@agents.test",
  localPart: "ada",
  displayName: null,
  outboundSignature: null,
  active: true,
  createdAt: "2026-01-31T12:00:00.000Z",
  updatedAt: "2026-01-31T12:00:00.000Z"
}
const bought = paid({ mailbox, operationId: mailbox.mailboxId, authentication: { accessToken: TOKEN } })

/** The tested part of a journal file. */
interface Written {
  readonly id: string
  readonly state: Readonly<Record<string, unknown>>
}

const customer = () => {
  const home = program.folder()
  const env = {
    AGENTOS_BASE_URL: api.url(),
    AGENTOS_PRIVATE_KEY: KEY,
    AGENTOS_HOME: home,
    AGENTOS_RPC_URL: `${api.url()}/rpc`
  }
  const run = (args: ReadonlyArray<string>) => program.run(args, { env })
  const journal = () => {
    const folder = join(home, "journal")
    try {
      return readdirSync(folder)
        .filter((name) => name.endsWith(".json"))
        .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Written)
    } catch {
      return []
    }
  }
  return { env, home, run, journal }
}

const statusOf = (paymentState: string, advice: string, transaction: string | null = null) => ({
  data: { payment: { paymentState, advice, transaction } }
})
/** Resolves when a process has tried twice to take a lock of a folder, for which it writes a draft each time. */
const triedLockAgain = (folder: string): Promise<void> =>
  new Promise((resolve) => {
    const drafts = new Set<string>()
    const watcher = watch(folder, (_, name) => {
      if (!name?.endsWith(".draft") || drafts.add(name).size < 2) return
      watcher.close()
      resolve()
    })
  })
const withSignature = (seen: ReadonlyArray<Seen>) => seen.filter(({ headers }) => "payment-signature" in headers)

beforeEach(() => {
  api.seen.splice(0)
  // By default the RPC does not answer, which does not stop a payment.
  api.on("POST /rpc", errorReply(404, "RESOURCE_NOT_FOUND"))
})

describe("paying command", () => {
  it("signs the quote and sends it once with its own idempotency key", async () => {
    const { home, journal, run } = customer()
    api.on(MAILBOXES, challenge(), bought)
    api.on("POST /rpc", ...rpcReplies(1_000_000n))
    const { code, stderr, stdout } = await run([...CREATE, ...CONSENT])
    assert.strictEqual(code, 0, stderr)
    for (const text of ["0.25 USDT", "eip155:196", offer().asset, offer().payTo, PAYER, "1.00 USDT", "mailbox ada"])
      assert.include(stderr, text)
    assert.include(stdout, "ada@agents.test")
    const [quoted, sent, ...more] = api.seen.filter(({ url }) => url !== "/rpc")
    assert.isEmpty(more)
    assert.strictEqual(quoted!.body, sent!.body)
    assert.notProperty(quoted!.headers, "payment-signature")
    assert.isNotEmpty(sent!.headers["idempotency-key"])
    const payment = JSON.parse(Buffer.from(String(sent!.headers["payment-signature"]), "base64").toString())
    assert.deepStrictEqual(payment.accepted, offer())
    const { from, to, value } = payment.payload.authorization
    assert.deepStrictEqual([from, to, value], [PAYER, offer().payTo, "250000"])
    const [entry] = journal()
    assert.deepInclude(entry!.state, { tag: "answered", paymentState: "settled", transaction: TRANSACTION })
    assert.strictEqual(statSync(join(home, "credentials.json")).mode & 0o777, 0o600)
  })

  it("saves the access token and never prints it", async () => {
    for (const format of [[], ["--json"]]) {
      const { home, run } = customer()
      api.on(MAILBOXES, challenge(), bought)
      const { code, stderr, stdout } = await run([...CREATE, ...CONSENT, ...format])
      assert.strictEqual(code, 0, stderr)
      assert.notInclude(stdout + stderr, TOKEN)
      assert.include(readFileSync(join(home, "credentials.json"), "utf8"), TOKEN)
    }
  })

  it("names the free sign-in if the wallet has a token that the purchase does not return", async () => {
    const { home, run } = customer()
    const authentication = { next: { method: "POST", path: "/api/v1/auth/token" }, message: "Sign in." }
    const withoutToken = paid({ mailbox, operationId: mailbox.mailboxId, authentication })
    api.on(MAILBOXES, challenge(), withoutToken, withoutToken)
    const { code, stderr } = await run([...CREATE, ...CONSENT])
    const resumed = await run(["payments", "resume", /Payment (\S+)\.\n/.exec(stderr)?.[1] ?? ""])
    assert.deepStrictEqual([code, resumed.code], [0, 0], stderr + resumed.stderr)
    for (const text of [stderr, resumed.stderr]) {
      assert.include(text, `agentctl login --wallet --profile default --base-url ${api.url()}`)
      assert.notInclude(text, "saved in profile")
    }
    assert.isFalse(existsSync(join(home, "credentials.json")))
  })

  it("does not follow a redirect of the RPC", async () => {
    const { run } = customer()
    api.on(MAILBOXES, challenge(), bought)
    api.on("POST /rpc", { status: 307, headers: { Location: "/other" }, body: "" })
    api.on("POST /other", ...rpcReplies(1_000_000n))
    const { stderr } = await run([...CREATE, ...CONSENT])
    assert.match(stderr, /Balance +unknown/)
    assert.notInclude(
      api.seen.map(({ url }) => url),
      "/other"
    )
  })

  it("continues when standard error is closed", async () => {
    const { env } = customer()
    api.on(MAILBOXES, challenge(), bought)
    const child = program.start([...CREATE, ...CONSENT], { env })
    child.stdin?.end()
    child.stderr?.destroy()
    const { code, stdout } = await outcomeOf(child)
    assert.include(stdout, "ada@agents.test")
    assert.strictEqual(code, 0)
  })

  it("signs nothing without a terminal and without --yes and --max-amount", async () => {
    api.on(MAILBOXES, challenge(), bought)
    for (const flags of [[], ["--yes"], ["--max-amount", "1"], ["--yes", "--max-amount", "much"]]) {
      const { journal, run } = customer()
      const { code, stderr, stdout } = await run([...CREATE, ...flags])
      assert.deepStrictEqual([code, stdout], [3, ""], stderr)
      assert.isEmpty(journal())
    }
    assert.isEmpty(api.seen)
  })

  const limits = [
    { name: "maximum", flags: ["--yes", "--max-amount", "0.249999"], says: "--max-amount is 0.249999" },
    { name: "budget of a call", budget: ["--per-call", "0.2"], says: "over the budget" },
    { name: "budget of a day", budget: ["--per-day", "0.2"], says: "over the budget" },
    { name: "balance", balance: 249_999n, says: "has 0.249999" }
  ]
  for (const { balance = 1_000_000n, budget, flags = CONSENT, name, says } of limits)
    it(`signs nothing above the ${name}`, async () => {
      const { journal, run } = customer()
      if (budget !== undefined) await run(["budget", "set", ...budget])
      api.on(MAILBOXES, challenge(), bought)
      api.on("POST /rpc", ...rpcReplies(balance))
      const { code, stderr } = await run([...CREATE, ...flags])
      assert.strictEqual(code, 7, stderr)
      assert.include(stderr, says)
      assert.isEmpty(journal())
      assert.isEmpty(withSignature(api.seen))
    })

  it("counts a payment toward the daily budget", async () => {
    const { run } = customer()
    await run(["budget", "set", "--per-day", "0.49"])
    api.on(MAILBOXES, challenge(), bought, challenge(), bought)
    assert.strictEqual((await run([...CREATE, ...CONSENT])).code, 0)
    assert.strictEqual((await run([...CREATE, ...CONSENT])).code, 7)
    assert.lengthOf(withSignature(api.seen), 1)
  })

  it("signs no unsupported or expired quote", async () => {
    const cases = [
      [challenge({ scheme: "upto" }), "The server offers no supported payment option"],
      [challenge({ network: "solana:mainnet" }), "The server offers no supported payment option"],
      [
        challenge({ extra: { ...offer().extra, expiresAt: 1_000_000_000 } }),
        "by the clock of this machine, which is probably fast"
      ],
      [challenge({ maxTimeoutSeconds: 86_400 }), "valid for 86400 s; the maximum is 1 hour"],
      [challenge({ asset: `0x${"ab".repeat(20)}` }), "a token that is not a known USDT contract"],
      [challenge({ amount: "0x10" }), "The challenge of the server has an invalid option"]
    ] as const
    for (const [reply, says] of cases) {
      const { journal, run } = customer()
      api.on(MAILBOXES, reply, bought)
      const { code, stderr } = await run([...CREATE, ...CONSENT])
      assert.include([1, 7], code)
      assert.include(stderr, says)
      assert.isEmpty(journal())
    }
    assert.isEmpty(withSignature(api.seen))
  })

  it("does not sign again when the server raises the price", async () => {
    const { journal, run } = customer()
    api.on(MAILBOXES, challenge(), challenge({ amount: "5000000" }), bought)
    const { code, stderr } = await run([...CREATE, ...CONSENT])
    assert.strictEqual(code, 7, stderr)
    assert.lengthOf(withSignature(api.seen), 1)
    assert.lengthOf(journal(), 1)
  })

  it("sends the same bytes again while the payment is pending", async () => {
    const pending = errorReply(409, "PAYMENT_PENDING", { paymentState: "pending", retryable: true })
    const { run } = customer()
    api.on(MAILBOXES, challenge(), pending, "cut", bought)
    api.on("POST /api/v1/payments/status", statusOf("pending", "wait"), statusOf("settled", "done"))
    const { code, stderr } = await run([...CREATE, ...CONSENT])
    assert.strictEqual(code, 0, stderr)
    const signed = withSignature(api.seen)
    assert.deepStrictEqual(
      signed.map(({ url }) => url.replace("/api/v1/", "")),
      ["email/mailboxes", "payments/status", "payments/status", "email/mailboxes", "email/mailboxes"]
    )
    const sent = signed.filter(({ url }) => url.endsWith("/mailboxes"))
    const bytes = sent.map(({ body, headers }) => [body, headers["payment-signature"], headers["idempotency-key"]])
    assert.deepStrictEqual(bytes, [bytes[0], bytes[0], bytes[0]])
  })

  it("sends the same bytes again after a proxy failed to answer", async () => {
    const { run } = customer()
    api.on(MAILBOXES, challenge(), { status: 502, body: "<html>" }, bought)
    const { code, stderr } = await run([...CREATE, ...CONSENT])
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "Trying again in 1 s.")
    assert.lengthOf(withSignature(api.seen), 2)
  })

  it("leaves a payment with an unknown outcome open, and resumes it with the same bytes", async () => {
    const { journal, run } = customer()
    api.on(MAILBOXES, challenge(), "cut")
    const lost = await run([...CREATE, ...CONSENT, "--json"])
    assert.strictEqual(lost.code, 8, lost.stderr)
    const { error } = JSON.parse(lost.stderr.slice(lost.stderr.indexOf("{\n"))) as { error: Record<string, unknown> }
    const [entry] = journal()
    assert.deepInclude(error, {
      code: "OUTCOME_UNKNOWN",
      paymentState: "unknown",
      next: [`agentctl payments resume ${entry!.id}`]
    })
    assert.include(String(error["message"]), "do not pay again")
    // Still no answer: the outcome stays open.
    assert.strictEqual((await run(["payments", "resume"])).code, 8)
    api.on(MAILBOXES, bought)
    const resumed = await run(["payments", "resume", "--json"])
    assert.strictEqual(resumed.code, 0, resumed.stderr)
    assert.deepNestedInclude(JSON.parse(resumed.stdout), { "payment.open": false, "data.mailbox": mailbox })
    assert.notInclude(resumed.stdout + resumed.stderr, TOKEN)
    const sent = withSignature(api.seen)
    assert.isAbove(sent.length, 3)
    const bytes = ({ body, headers }: Seen) => [body, headers["payment-signature"], headers["idempotency-key"]]
    for (const request of sent) assert.deepStrictEqual(bytes(request), bytes(sent[0]!))
  })

  it.each(["times out", "is interrupted"])("that %s while it saves the answer leaves the payment open", async (how) => {
    const { env, home, journal, run } = customer()
    api.on(MAILBOXES, challenge(), bought)
    // Another process holds the lock of the credentials.
    const lock = acquireFileLock(join(home, "credentials.lock"))
    const child = program.start([...CREATE, ...CONSENT], { env })
    const ended = outcomeOf(child)
    child.stdin?.end()
    if (how === "is interrupted") {
      await vi.waitFor(() => assert.lengthOf(withSignature(api.seen), 1), { timeout: 60_000 })
      await triedLockAgain(home)
      child.kill("SIGINT")
    }
    const { code, stderr } = await ended
    assert.strictEqual(code, 8, stderr)
    assert.include(stderr, "do not pay again")
    assert.include(stderr, `agentctl payments resume ${journal()[0]!.id}`)
    assert.include(stderr, how === "is interrupted" ? "Interrupted" : "credentials")
    lock.release()
    const resumed = await run(["payments", "resume", "--json"])
    assert.strictEqual(resumed.code, 0, resumed.stderr)
    assert.deepNestedInclude(JSON.parse(resumed.stdout), { "payment.open": false, "data.mailbox": mailbox })
  })

  it("fetches the result again without losing the known outcome", async () => {
    const { journal, run } = customer()
    api.on(MAILBOXES, challenge(), bought)
    await run([...CREATE, ...CONSENT])
    const [known] = journal()
    for (const [reply, expected] of [
      ["cut", 1],
      [errorReply(429, "RATE_LIMITED", { paymentState: "none", retryable: true }), 1],
      [bought, 0]
    ] as const) {
      api.on(MAILBOXES, reply)
      const asked = await run(["payments", "resume", known!.id, "--json"])
      assert.strictEqual(asked.code, expected, asked.stderr)
      assert.deepStrictEqual(journal(), [known])
    }
  })

  it("ignores the payment state of an error before the lookup", async () => {
    const { run } = customer()
    const limited = errorReply(429, "RATE_LIMITED", { paymentState: "none", retryable: false })
    api.on(MAILBOXES, challenge(), "cut", limited)
    const { code, stderr } = await run([...CREATE, ...CONSENT])
    assert.strictEqual(code, 8, stderr)
    assert.notInclude(stderr, "Nothing was charged")
  })

  it.each([
    ["none", "pay", 4, { tag: "answered", paymentState: "none" }],
    ["refunded", "done", 4, { tag: "answered", paymentState: "refunded" }],
    ["none", "retry_same", 8, { tag: "answered", paymentState: "unknown" }],
    ["unknown", "wait", 8, { tag: "answered", paymentState: "unknown" }]
  ] as const)(
    "reads the status of a payment that such an error leaves unknown: %s, %s",
    async (paymentState, advice, exit, state) => {
      const { journal, run } = customer()
      const revoked = errorReply(401, "INVALID_TOKEN", { paymentState: "none" })
      api.on(MAILBOXES, challenge(), "cut", revoked)
      api.on("POST /api/v1/payments/status", statusOf(paymentState, advice))
      const { code, stderr } = await run([...CREATE, ...CONSENT])
      assert.strictEqual(code, exit, stderr)
      assert.deepInclude(journal()[0]!.state, state)
      const [asked] = api.seen.filter(({ url }) => url === "/api/v1/payments/status")
      const [sent] = withSignature(api.seen)
      assert.strictEqual(asked!.headers["payment-signature"], sent!.headers["payment-signature"])
      assert.strictEqual(asked!.body, "")
    }
  )

  it.each([
    ["none", "pay", "never will be. Run the original command"],
    ["none", "retry_same", "Send this one again: agentctl payments resume "],
    ["settled", "wait", "Do not sign another payment. Read the status again in 5 seconds."],
    ["settled", "done", "Show its result again: agentctl payments resume "],
    ["refunded", "done", "The payment was refunded."]
  ])("shows the status of a payment that is %s and what to do: %s", async (paymentState, advice, text) => {
    const { journal, run } = customer()
    api.on(MAILBOXES, challenge(), bought)
    await run([...CREATE, ...CONSENT])
    const [known] = journal()
    const { data } = statusOf(paymentState, advice)
    const unknown = { operationId: null, refund: null, reason: null, updatedAt: null, retryAfterSeconds: 5 }
    api.on("POST /api/v1/payments/status", { data: { payment: { ...data.payment, ...unknown } } })
    const { code, stderr, stdout } = await run(["payments", "status", known!.id])
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, new RegExp(`Advice\\t${advice}`))
    assert.include(stderr, text)
    assert.notProperty(api.seen.at(-1)!.headers, "authorization")
    assert.deepStrictEqual(journal(), [known])
  })

  const endings = [
    ["a declined payment", errorReply(402, "PAYMENT_REQUIRED", { paymentState: "none" }), 7, false],
    ["a conflict", errorReply(409, "CONFLICT", { paymentState: "none" }), 6, false],
    ["a refund", errorReply(502, "PROVIDER_REJECTED", { paymentState: "refunded" }), 9, false],
    ["a pending refund", errorReply(502, "PROVIDER_REJECTED", { paymentState: "refund_due" }), 9, false],
    ["an unknown outcome", errorReply(500, "INTERNAL_ERROR", { paymentState: "unknown" }), 8, true],
    ["a charge whose result is to come", errorReply(409, "PAYMENT_PENDING", { paymentState: "settled" }), 8, true],
    ["a response that is not from the API", { status: 403, body: "<html>" }, 8, true]
  ] as const
  for (const [name, reply, expected, open] of endings)
    it(`exits with ${expected} on ${name}`, async () => {
      const { run } = customer()
      api.on(MAILBOXES, challenge(), reply)
      const { code, stderr } = await run([...CREATE, ...CONSENT])
      assert.strictEqual(code, expected, stderr)
      assert.strictEqual(stderr.includes("agentctl payments resume"), open, stderr)
    })
})
