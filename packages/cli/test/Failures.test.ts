import { mkdirSync, writeFileSync } from "node:fs"
import { createServer as createProxy } from "node:http"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { assert, describe, it } from "vitest"
import { errorReply, type Reply, useApiDouble } from "./support/ApiDouble.ts"
import { challenge, KEY, limitsOf, paid, PAYER, TOKEN } from "./support/PaidAnswers.ts"
import { useProgram } from "./support/Program.ts"

const program = useProgram()
const api = useApiDouble()

const MAILBOXES = "GET /api/v1/email/mailboxes/query"
const CREATE = ["mailbox", "create", "ada", "--yes", "--max-amount", "1", "--json", "--quiet"]

/** Runs a command with a token against the test server and returns its exit code and its error. */
const failing = async (
  args: ReadonlyArray<string>,
  more: Readonly<Record<string, string>> = {},
  run: "run" | "execute" = "run"
) => {
  const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_TOKEN: TOKEN, AGENTOS_PRIVATE_KEY: KEY, ...more }
  const { code, stderr } = await program[run](args, { env })
  return { code, error: JSON.parse(stderr).error as Record<string, unknown> }
}

describe("failures", () => {
  it("reports a response that is not from the API", async () => {
    const answers: ReadonlyArray<readonly [Reply, string]> = [
      [{ status: 200, body: "<html>" }, "with a body that is not from the AgentOS API"],
      [{ data: null }, "with a body that is not from the AgentOS API"],
      [{ data: { things: 1 } }, "This version of agentctl does not understand a response"]
    ]
    for (const [answer, says] of answers) {
      api.on(MAILBOXES, answer)
      const { code, error } = await failing(["mailbox", "list", "--json"])
      assert.deepInclude(error, { code: "UNEXPECTED_ANSWER" })
      assert.include(String(error["message"]), says)
      assert.strictEqual(code, 1)
    }
    api.on("POST /api/v1/email/mailboxes", { status: 200, body: "<html>" })
    const { error } = await failing(CREATE)
    assert.include(String(error["message"]), "with a body that is not from the AgentOS API")
    assert.strictEqual(error["paymentState"], "none")
  })

  it("replaces the server's advice about HTTP requests by the command to run", async () => {
    api.on(
      MAILBOXES,
      errorReply(404, "RESOURCE_NOT_FOUND", {
        message: "No such call: 7. GET /api/v1/phone/calls lists the valid ids. Nothing was charged.",
        next: { method: "GET", path: "/api/v1/phone/calls" }
      })
    )
    const { error } = await failing(["mailbox", "list", "--json"])
    assert.deepInclude(error, { message: "No such call: 7. Nothing was charged.", next: ["agentctl call list"] })
  })

  it("names one way to a token", async () => {
    const next = { method: "POST", path: "/api/v1/auth/token" }
    api.on(MAILBOXES, errorReply(401, "AUTH_REQUIRED", { next }))
    const { error } = await failing(["mailbox", "list", "--json"])
    assert.deepStrictEqual(error["next"], ["unset AGENTOS_TOKEN", "agentctl login --wallet"])
  })

  it("names the address of the operator routes if they can't be reached", async () => {
    const args = ["tenant", "revoke-tokens", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "--yes", "--json", "--quiet"]
    const operator = { AGENTOS_OPERATOR_TOKEN: "operator", AGENTOS_OPERATOR_URL: "http://127.0.0.1:2" }
    const { code, error } = await failing(args, operator)
    assert.deepStrictEqual([code, error["code"]], [1, "UNREACHABLE"])
    assert.match(
      String(error["message"]),
      /^Cannot reach http:\/\/127\.0\.0\.1:2 .*--operator-url or AGENTOS_OPERATOR_URL\.$/
    )
    assert.deepStrictEqual(error["next"], ["agentctl tenant revoke-tokens --help"])
  })

  it("reports a server that does not speak HTTP", async () => {
    const server = createServer((socket) => socket.on("error", () => {}).end("SSH-2.0-OpenSSH\r\n"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const { error } = await failing(["services", "list", "--json", "--quiet", "--base-url", `http://127.0.0.1:${port}`])
    server.close()
    assert.match(String(error["message"]), /Cannot reach .* \((?!undefined)./)
  })

  it("names the status of the proxy of the environment, which is used for all other machines", async () => {
    // The proxy is a setting of the whole process.
    const seen: Array<string> = []
    const statuses = ["502 Bad Gateway", "502 Bad Gateway", "502 Bad Gateway"]
    const proxy = createProxy().on("connect", (request, socket: Duplex) => {
      seen.push(request.url ?? "")
      socket.end(`HTTP/1.1 ${statuses.shift() ?? "407 Proxy Authentication Required"}\r\n\r\n`)
    })
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
    const { port } = proxy.address() as AddressInfo
    const by = { HTTPS_PROXY: `http://127.0.0.1:${port}`, HTTP_PROXY: `http://127.0.0.1:${port}` }
    const args = ["services", "list", "--json", "--quiet"]
    const { code, error } = await failing(args, { ...by, AGENTOS_BASE_URL: "https://agentos.example" }, "execute")
    assert.deepStrictEqual([code, error["code"]], [1, "UNREACHABLE"])
    assert.strictEqual(
      error["message"],
      "Cannot reach https://agentos.example (the proxy of the environment answered 502)."
    )
    const denied = await failing(args, { ...by, AGENTOS_BASE_URL: "https://agentos.example" }, "execute")
    assert.strictEqual(
      denied.error["message"],
      "Cannot reach https://agentos.example (the proxy of the environment answered 407: put its user and password into HTTPS_PROXY)."
    )
    assert.include(seen, "agentos.example:443")
    seen.splice(0)
    api.on("GET /api/v1/services", { data: { items: [] } })
    const direct = await program.execute(args, { env: { ...by, AGENTOS_BASE_URL: api.url() } })
    assert.strictEqual(direct.code, 0, direct.stderr)
    const excepted = await failing(
      args,
      { ...by, NO_PROXY: ".invalid", AGENTOS_BASE_URL: "https://agentos.invalid" },
      "execute"
    )
    assert.strictEqual(excepted.code, 1)
    assert.isEmpty(seen)
    proxy.close()
    const wrong = await failing(args, { HTTPS_PROXY: "ada:secret" }, "execute")
    assert.deepStrictEqual([wrong.code, wrong.error["code"]], [3, "CONFIGURATION"])
    assert.notInclude(String(wrong.error["message"]), "secret")
  })

  it("removes control characters from a message of the server while it retries", async () => {
    const message = "Under way. \u001b]0;owned\u0007\u009b31m"
    const pending = errorReply(409, "PAYMENT_PENDING", { message, retryable: true, paymentState: "pending" })
    const lost = errorReply(409, "PAYMENT_PENDING", { message, paymentState: "unknown" })
    api.on("POST /api/v1/email/mailboxes", challenge(), pending, lost)
    const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_PRIVATE_KEY: KEY, AGENTOS_HOME: program.folder() }
    const bought = await program.run(["mailbox", "create", "ada", "--yes", "--max-amount", "1"], { env })
    assert.include(bought.stderr, "Under way. \ufffd]0;owned\ufffd\ufffd31m Trying again in 1 s.")
    const resumed = await program.run(["payments", "resume", "--all"], { env })
    assert.strictEqual(resumed.code, 8)
    assert.include(resumed.stderr, "Under way.")
    assert.notMatch(bought.stderr + resumed.stderr, /[\u001b\u0007\u009b]/)
  })

  it("reports the failure of one of several resumed payments", async () => {
    const url = "POST /api/v1/email/mailboxes"
    const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_PRIVATE_KEY: KEY, AGENTOS_HOME: program.folder() }
    for (let count = 0; count < 2; count++) {
      api.on(url, challenge(), { status: 403, body: "<html>" })
      const { code } = await program.run(["mailbox", "create", "ada", "--yes", "--max-amount", "1"], { env })
      assert.strictEqual(code, 8)
    }
    api.on(url, errorReply(409, "CONFLICT", { paymentState: "none" }), paid({ mailbox: {} }))
    const { code, stderr, stdout } = await program.run(["payments", "resume", "--all", "--json"], { env })
    assert.strictEqual(code, 6)
    const { items } = JSON.parse(stdout) as { items: ReadonlyArray<{ state: { status: number } }> }
    assert.deepStrictEqual(
      items.map(({ state }) => state.status),
      [409, 201]
    )
    assert.include(stderr, '"message": "1 of 2 payments failed. See the errors above."')
  })

  it("suggests removing an invalid token that blocks a purchase without need for one", async () => {
    api.on("POST /api/v1/email/mailboxes", errorReply(401, "INVALID_TOKEN"))
    const given = await failing(CREATE)
    assert.deepStrictEqual([given.code, given.error["next"]], [4, ["unset AGENTOS_TOKEN"]])
    const home = program.folder()
    const saved = JSON.stringify({ profiles: { default: { [api.url()]: TOKEN } } })
    writeFileSync(join(home, "credentials.json"), saved, { mode: 0o600 })
    const kept = await failing(CREATE, { AGENTOS_HOME: home, AGENTOS_TOKEN: "" })
    assert.deepStrictEqual([kept.code, kept.error["next"]], [4, ["agentctl logout"]])
  })

  it("suggests a login to someone without a token whose mailbox may exist already", async () => {
    api.on("POST /api/v1/email/mailboxes", errorReply(409, "CONFLICT", { paymentState: "none" }))
    const { code, error } = await failing(CREATE, { AGENTOS_TOKEN: "" })
    assert.deepStrictEqual([code, error["code"], error["paymentState"]], [6, "CONFLICT", "none"])
    assert.deepStrictEqual(error["next"], ["agentctl login --wallet"])
    assert.match(String(error["message"]), / If it is yours, get your token, then repeat the command\.$/)
  })

  it("says that the token is of another wallet if the wallet that pays may own the mailbox", async () => {
    const owner = `0x${"2".repeat(40)}`
    api.on("POST /api/v1/email/mailboxes", errorReply(409, "CONFLICT", { paymentState: "none" }))
    api.on(MAILBOXES, { data: { items: [], nextCursor: null } })
    api.on("GET /api/v1/limits", limitsOf(owner))
    const home = program.folder()
    const saved = JSON.stringify({ profiles: { default: { [api.url()]: TOKEN } } })
    writeFileSync(join(home, "credentials.json"), saved, { mode: 0o600 })
    const { code, error } = await failing(CREATE, { AGENTOS_HOME: home, AGENTOS_TOKEN: "" })
    assert.deepStrictEqual([code, error["code"], error["paymentState"]], [6, "CONFLICT", "none"])
    assert.include(String(error["message"]), `The access token (from profile default) is of ${owner}, another wallet`)
    assert.deepStrictEqual(error["next"], [
      "unset AGENTOS_PRIVATE_KEY for the wallet of the profile, or agentctl logout, then agentctl login --wallet if the wallet has bought here"
    ])
    api.on("GET /api/v1/limits", limitsOf(PAYER))
    assert.notInclude(String((await failing(CREATE)).error["message"]), "another wallet")
  })

  it("suspects the clock if a new quote has already expired", async () => {
    api.on("POST /api/v1/email/mailboxes", challenge({ extra: { expiresAt: 1_700_000_000 } }))
    const { code, error } = await failing(CREATE)
    assert.deepInclude(error, { code: "PAYMENT_DECLINED", paymentState: "none", next: ["agentctl doctor"] })
    assert.include(String(error["message"]), "the clock of this machine, which is probably fast")
    assert.strictEqual(code, 7)
  })

  it("lets doctor find a file that cannot be read", async () => {
    const home = program.folder()
    mkdirSync(join(home, "config.json"))
    const { code, stderr, stdout } = await program.run(["doctor", "--json", "-q"], { env: { AGENTOS_HOME: home } })
    const { checks } = JSON.parse(stdout) as { checks: ReadonlyArray<Record<string, unknown>> }
    const settings = checks.find(({ name }) => name === "settings")
    assert.deepInclude(settings, { status: "failed", fix: null })
    assert.include(String(settings?.["detail"]), `Cannot read ${join(home, "config.json")} (EISDIR`)
    assert.include(JSON.parse(stderr).error.message, "2 problems found: settings, wallet.")
    assert.strictEqual(code, 1)
  })

  it("repeats --profile and --base-url in the next commands", async () => {
    const line = ["mailbox", "list", "--profile", "staging", "--base-url", api.url()]
    const { code, stderr } = await program.run([...line, "--json"])
    assert.strictEqual(code, 4)
    const place = `--profile staging --base-url ${api.url()}`
    assert.deepStrictEqual(JSON.parse(stderr).error.next, [
      `agentctl login --wallet ${place}`,
      `agentctl mailbox create LOCALPART ${place}`
    ])
    const wrong = await program.run([...line, "--limt"])
    assert.include(wrong.stderr, "Next: agentctl mailbox list --help\n")
  })
})
