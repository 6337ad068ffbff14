import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeEach, describe, it } from "vitest"
import { errorReply, useApiDouble } from "./support/ApiDouble.ts"
import { KEY, limitsOf, PAYER, rpcReplies, signInReply } from "./support/PaidAnswers.ts"
import { useProgram } from "./support/Program.ts"
import { description } from "./support/Samples.ts"

const program = useProgram()
const api = useApiDouble()
const NUMBER = "+14155550100"

/** A home, and the data folder of a sandbox at the server's URL. */
const place = () => {
  const home = program.folder()
  const data = program.folder()
  const url = api.url()
  const sandbox = {
    baseUrl: url,
    emailDomain: "sandbox.agentos.test",
    mail: { host: "127.0.0.1", port: 2525, relayFaultsUrl: url },
    facilitatorUrl: url,
    carrier: { url },
    chain: { rpcUrl: `${url}/rpc` },
    wallets: [{ address: PAYER, privateKey: KEY }]
  }
  writeFileSync(join(data, "sandbox.json"), JSON.stringify(sandbox))
  const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
    program.run(args, { cwd: home, env: { AGENTOS_HOME: home, ...env } })
  return { home, data, run }
}

const SIGN_IN = "/api/v1/auth/token"

beforeEach(() => {
  api.seen.splice(0)
  api.reset()
  api.on("GET /api/v1", { data: { ...description, environment: "sandbox" } })
  // Its wallet has bought nothing.
  api.on(`POST ${SIGN_IN}`, errorReply(404, "RESOURCE_NOT_FOUND"))
})

describe("dev with a running sandbox", () => {
  it.each(["", "/sandbox.json"])("joins it by its data%s, and makes a profile for it", async (rest) => {
    const { data, home, run } = place()
    const { code, stderr, stdout } = await run(["dev", "--data", `${data}${rest}`, "--json"])
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, `Joined the running sandbox of ${data}.`)
    assert.deepInclude(JSON.parse(stdout), { profile: "dev", baseUrl: api.url(), address: PAYER })
    const config = JSON.parse(readFileSync(join(home, "config.json"), "utf8")) as object
    assert.deepStrictEqual(config, {
      profile: "dev",
      profiles: {
        dev: {
          baseUrl: api.url(),
          walletFile: join(home, "wallets", "dev.sandbox.key"),
          rpcUrl: `${api.url()}/rpc`,
          sandboxFile: join(data, "sandbox.json")
        }
      }
    })
  })

  it("saves the token of its wallet, which another program has bought with", async () => {
    const { data, home, run } = place()
    const token = "at_v1_of_the_wallet"
    api.on(`POST ${SIGN_IN}`, signInReply(SIGN_IN), { data: { authentication: { accessToken: token } } })
    // Neither is of the sandbox.
    const env = { AGENTOS_BASE_URL: "http://127.0.0.1:2", AGENTOS_PRIVATE_KEY: `0x${"1".repeat(64)}` }
    const { code, stderr, stdout } = await run(["dev", "--data", data], env)
    assert.strictEqual(code, 0, stderr)
    const proof = Buffer.from(
      String(api.seen.findLast(({ headers }) => "sign-in-with-x" in headers)!.headers["sign-in-with-x"]),
      "base64"
    ).toString()
    assert.deepInclude(JSON.parse(proof), { address: PAYER })
    assert.notInclude(stdout + stderr, token)
    assert.include(readFileSync(join(home, "credentials.json"), "utf8"), token)
  })

  it("replaces a token of another wallet, which a sign-in with that wallet has saved, and keeps its own", async () => {
    const { data, home, run } = place()
    const save = (token: string) =>
      api.on(`POST ${SIGN_IN}`, signInReply(SIGN_IN), { data: { authentication: { accessToken: token } } })
    const saved = () => readFileSync(join(home, "credentials.json"), "utf8")
    save("at_v1_of_another")
    assert.strictEqual((await run(["dev", "--data", data])).code, 0)
    save("at_v1_of_the_wallet")
    api.on("GET /api/v1/limits", limitsOf(`0x${"2".repeat(40)}`))
    const { code, stderr } = await run(["dev", "--data", data])
    assert.strictEqual(code, 0, stderr)
    assert.include(saved(), "at_v1_of_the_wallet")
    assert.notInclude(saved(), "at_v1_of_another")
    save("at_v1_a_third")
    api.on("GET /api/v1/limits", limitsOf(PAYER))
    assert.strictEqual((await run(["dev", "--data", data])).code, 0)
    assert.include(saved(), "at_v1_of_the_wallet")
  })

  it("forgets the token of an earlier wallet when the profile has an encrypted one, without a password", async () => {
    const { data, home, run } = place()
    const token = "at_v1_of_the_sandbox_wallet"
    api.on(`POST ${SIGN_IN}`, signInReply(SIGN_IN), { data: { authentication: { accessToken: token } } })
    assert.strictEqual((await run(["dev", "--data", data])).code, 0)
    const saved = () => readFileSync(join(home, "credentials.json"), "utf8")
    assert.include(saved(), token)
    const made = await run(["wallet", "create"], { AGENTOS_PASSWORD: "secret words" })
    assert.strictEqual(made.code, 0, made.stderr)
    assert.include(made.stderr, "There is an access token (from profile dev), perhaps of another wallet.")
    api.on("GET /api/v1/limits", limitsOf(PAYER))
    api.on("POST /rpc", ...rpcReplies(1n))
    const { code, stderr } = await run(["dev", "--data", data])
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "is removed from profile dev, because the profile's wallet is another one. It stays valid.")
    assert.notInclude(saved(), token)
  })

  it("says to log out before the first purchase of a wallet beside a token of another one", async () => {
    const { data, run } = place()
    api.on(`POST ${SIGN_IN}`, signInReply(SIGN_IN), {
      data: { authentication: { accessToken: "at_v1_of_the_wallet" } }
    })
    assert.strictEqual((await run(["dev", "--data", data])).code, 0)
    api.on(`POST ${SIGN_IN}`, signInReply(SIGN_IN), errorReply(404, "RESOURCE_NOT_FOUND"))
    const { code, stderr } = await run(["login", "--wallet"], { AGENTOS_PRIVATE_KEY: `0x${"1".repeat(64)}` })
    assert.strictEqual(code, 5, stderr)
    assert.include(stderr, "The saved token of profile dev is not that of this wallet: log out first.")
    assert.match(stderr, /Next: .*agentctl logout/)
  })

  it.each([
    ["dev", []],
    ["default", [["config", "set", "base-url"]]]
  ] as const)(
    "keeps the wallet that was chosen for the profile %s of its server, and gives it money if it has none",
    async (profile, before) => {
      const { data, home, run } = place()
      if (before.length === 0) assert.strictEqual((await run(["dev", "--data", data])).code, 0)
      for (const args of before) assert.strictEqual((await run([...args, api.url()])).code, 0)
      const made = await run(["wallet", "create", "--plain", "--json"])
      const { address, walletFile } = JSON.parse(made.stdout) as {
        readonly address: string
        readonly walletFile: string
      }
      const accepts = [{ network: "eip155:196", asset: `0x${"a".repeat(40)}` }]
      api.on("GET /api/v1", { data: { ...description, payment: { ...description.payment, accepts } } })
      api.on("POST /sandbox/faucet", { status: 200, body: { address, amount: "100.00", transaction: "0x1" } })

      api.on("POST /rpc", ...rpcReplies(0n))
      const { code, stderr, stdout } = await run(["dev", "--data", data, "--json"])
      assert.strictEqual(code, 0, stderr)
      assert.deepInclude(JSON.parse(stdout), { profile, address, walletFile })
      const asked = api.seen.find(({ url }) => url === "/sandbox/faucet")!
      assert.deepStrictEqual(JSON.parse(asked.body), { address, amount: "100.00" })
      const { profiles } = JSON.parse(readFileSync(join(home, "config.json"), "utf8")) as {
        readonly profiles: Readonly<Record<string, object>>
      }
      assert.deepStrictEqual(Object.keys(profiles), [profile])
      assert.deepInclude(profiles[profile], { walletFile, sandboxFile: join(data, "sandbox.json") })

      // It has bought something since.
      api.seen.splice(0)
      api.on("POST /rpc", ...rpcReplies(1n))
      const token = "at_v1_of_the_chosen"
      api.on(`POST ${SIGN_IN}`, signInReply(SIGN_IN), { data: { authentication: { accessToken: token } } })
      assert.strictEqual((await run(["dev", "--data", data])).code, 0)
      assert.isUndefined(api.seen.find(({ url }) => url === "/sandbox/faucet"))
      const proof = Buffer.from(
        String(api.seen.findLast(({ headers }) => "sign-in-with-x" in headers)!.headers["sign-in-with-x"]),
        "base64"
      ).toString()
      assert.deepInclude(JSON.parse(proof), { address })
      assert.include(readFileSync(join(home, "credentials.json"), "utf8"), token)
    }
  )

  it("names the data folder when it refuses a profile of another machine", async () => {
    const { data, run } = place()
    const given = await run(["config", "set", "base-url", "https://agentos.example", "--profile", "dev"])
    assert.strictEqual(given.code, 0, given.stderr)
    const { code, stderr } = await run(["dev", "--data", data])
    assert.strictEqual(code, 6)
    assert.include(stderr, `agentctl dev --data ${data} --profile sandbox`)
  })

  it("does not join a server that is no sandbox", async () => {
    const { data, run } = place()
    api.on("GET /api/v1", { data: { ...description, environment: "production" } })
    const { code, stderr } = await run(["dev", "--data", join(data, "sandbox.json")])
    assert.strictEqual(code, 5)
    assert.include(stderr, `The sandbox of ${join(data, "sandbox.json")} does not answer.`)
  })
})

describe("the world outside", () => {
  it("writes to a local part, with a new code", async () => {
    const { data, run } = place()
    await run(["dev", "--data", data])
    api.on("POST /sandbox/mail", { status: 200, body: { messageId: "<1@outside.example>", reply: "250 OK" } })
    const { code, stderr, stdout } = await run(["sandbox", "mail", "--to", "ada", "--code", "--json"])
    assert.strictEqual(code, 0, stderr)
    const sent = JSON.parse(api.seen.at(-1)!.body) as { readonly to: unknown; readonly text: string }
    assert.deepStrictEqual(sent.to, ["ada@sandbox.agentos.test"])
    const { code: written } = JSON.parse(stdout) as { readonly code: string }
    assert.match(written, /^\d{6}$/)
    assert.strictEqual(sent.text, `Your verification code is ${written}.`)
  })

  it("calls the number in --to", async () => {
    const { data, run } = place()
    api.on("POST /sandbox/calls", { status: 200, body: { id: "CA1" } })
    api.on("GET /sandbox/calls/CA1", { status: 200, body: { id: "CA1", state: "completed", to: NUMBER, heard: [] } })
    const { code, stderr } = await run(["sandbox", "call", "--to", "+1 (415) 555-0100", "--data", data])
    assert.strictEqual(code, 0, stderr)
    const placed = api.seen.find(({ method }) => method === "POST")!
    assert.deepInclude(JSON.parse(placed.body), { to: NUMBER })
  })

  it.each([
    ["another server", "https://agentos.example"],
    ["another server on this machine", "http://127.0.0.1:2"]
  ])("is refused for %s, and nothing is sent", async (_what, server) => {
    const { data, run } = place()
    await run(["dev", "--data", data])
    api.seen.splice(0)
    const { code, stderr } = await run(["sandbox", "mail", "--to", "ada"], { AGENTOS_BASE_URL: server })
    assert.strictEqual(code, 3)
    assert.include(stderr, `${server} (from AGENTOS_BASE_URL) is not the sandbox at ${api.url()}.`)
    assert.isEmpty(api.seen)
  })

  it("is refused for a server without a sandbox on this machine", async () => {
    const { run } = place()
    const { code, stderr } = await run(["sandbox", "mail", "--to", "ada", "--base-url", "https://agentos.example"])
    assert.strictEqual(code, 3)
    assert.include(stderr, "https://agentos.example (from --base-url) is not")
  })
})
