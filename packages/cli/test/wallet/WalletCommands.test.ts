import { spawnSync } from "node:child_process"
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { challengeReply, useApiDouble } from "../support/ApiDouble.ts"
import { outcomeOf, useProgram } from "../support/Program.ts"

const program = useProgram()
const api = useApiDouble()

/** The well-known first account of development chains. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
const ADDRESS = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"

let rpc: Server
beforeAll(async () => {
  rpc = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += String(chunk)))
    request.on("end", () => {
      const { method, params } = JSON.parse(body) as { method: string; params: ReadonlyArray<{ data: string }> }
      const asked = params[0]?.data.endsWith(ADDRESS.slice(2).toLowerCase())
      const result =
        method === "eth_chainId" ? "0xc4" : asked === true ? `0x${(1_250_000).toString(16).padStart(64, "0")}` : "0x0"
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }))
    })
  })
  await new Promise<void>((resolve) => rpc.listen(0, "127.0.0.1", resolve))
})
afterAll(() => rpc.close())

describe("wallet commands", () => {
  it("resolve a relative AGENTOS_HOME", async () => {
    const at = { cwd: program.folder(), env: { AGENTOS_HOME: "./home" } }
    const made = await program.run(["wallet", "create", "--plain", "--json"], at)
    const { address, walletFile } = JSON.parse(made.stdout) as Record<string, string>
    assert.strictEqual(walletFile, join(at.cwd, "home", "wallets", "default.json"))
    const found = await program.run(["wallet", "address"], at)
    assert.deepStrictEqual([found.stdout, found.stderr], [`${address}\n`, ""])
    const path = await program.run(["config", "path"], {
      env: { AGENTOS_HOME: "", XDG_CONFIG_HOME: "here", HOME: "/h" }
    })
    assert.strictEqual(path.stdout, join("/h", ".config", "agentctl") + "\n")
  })

  it("create an encrypted wallet and set it in the profile", async () => {
    const env = { AGENTOS_HOME: program.folder(), AGENTOS_PASSWORD: "secret words" }
    const made = await program.run(["wallet", "create", "--json"], { env })
    assert.strictEqual(made.code, 0, made.stderr)
    const { address, encrypted, walletFile } = JSON.parse(made.stdout) as Record<string, string>
    assert.strictEqual(encrypted, true as unknown)
    assert.strictEqual(statSync(walletFile!).mode & 0o777, 0o600)
    assert.strictEqual((await program.run(["wallet", "address"], { env })).stdout, `${address}\n`)
    const again = await program.run(["wallet", "create"], { env })
    assert.deepStrictEqual([again.code, again.stdout], [6, ""])
    const other = await program.run(["wallet", "create", "--profile", "desktop"], { env })
    assert.include(other.stderr, "agentctl budget set --per-day 10 --per-call 6 --profile desktop")
  })

  it("warn of a token that an earlier wallet of the profile may have bought", async () => {
    const home = program.folder()
    const env = { AGENTOS_HOME: home, AGENTOS_BASE_URL: "https://agentos.example" }
    const create = (name: string) => program.run(["wallet", "create", "--plain", "--output", join(home, name)], { env })
    assert.notInclude((await create("first")).stderr, "token")
    const saved = JSON.stringify({ profiles: { default: { "https://agentos.example": "token" } } })
    writeFileSync(join(home, "credentials.json"), saved, { mode: 0o600 })
    const { code, stderr } = await create("second")
    assert.strictEqual(code, 0)
    assert.include(
      stderr,
      "There is an access token (from profile default), perhaps of another wallet. See: agentctl whoami"
    )
  })

  it.for(["AGENTOS_PRIVATE_KEY", "AGENTOS_WALLET_FILE"])(
    "warn that %s takes precedence over them",
    async (variable) => {
      const home = program.folder()
      const create = (env: Readonly<Record<string, string>>) =>
        program.run(["wallet", "create", "--plain", "--profile", variable], { env: { AGENTOS_HOME: home, ...env } })
      const { code, stderr } = await create({
        [variable]: variable === "AGENTOS_PRIVATE_KEY" ? KEY : join(home, "other")
      })
      assert.strictEqual(code, 0, stderr)
      assert.include(stderr, `${variable} is set, and agentctl prefers it to the wallet of a profile.`)
      assert.include(stderr, `unset ${variable}\n`)
      const desktop = program.run(["wallet", "create", "--plain"], { env: { AGENTOS_HOME: home } })
      assert.notInclude((await desktop).stderr, "is set")
    }
  )

  it("import a key from a redirected file", () => {
    const env = { AGENTOS_HOME: program.folder() }
    const key = join(program.folder(), "key")
    writeFileSync(key, KEY)
    const stdin = openSync(key, "r")
    const args = [program.file(), "wallet", "import", "--plain"]
    const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: [stdin, "pipe", "pipe"] })
    closeSync(stdin)
    assert.strictEqual(status, 0, String(stderr))
  })

  it("import from standard input, a file or a keystore of another program", async () => {
    const home = program.folder()
    const env = { AGENTOS_HOME: home }
    const plain = await program.run(["wallet", "import", "--plain"], { env, stdin: KEY })
    assert.strictEqual(plain.code, 0, plain.stderr)
    assert.notInclude(plain.stdout + plain.stderr, KEY.slice(2))
    assert.strictEqual((await program.run(["wallet", "address"], { env })).stdout, `${ADDRESS}\n`)

    const password = join(home, "password")
    writeFileSync(password, "secret words\n", { mode: 0o600 })
    const file = join(home, "wallets", "default.json")
    const store = join(home, "store.json")
    const options = ["--password-file", password, "--output", store]
    assert.strictEqual((await program.run(["wallet", "import", file, ...options], { env })).code, 0)
    const copy = ["wallet", "import", store, "--output", join(home, "copy.json")]
    assert.strictEqual((await program.run([...copy, "--password-file", "-"], { env, stdin: "wrong" })).code, 4)
    assert.strictEqual((await program.run([...copy, "--password-file", "-"], { env, stdin: "secret words\n" })).code, 0)
    assert.strictEqual(readFileSync(join(home, "copy.json"), "utf8"), readFileSync(store, "utf8"))
  })

  it("import nothing after an interruption, although standard input stays open", async () => {
    const home = program.folder()
    const child = program.start(["wallet", "import", "--plain"], { env: { AGENTOS_HOME: home } })
    const outcome = outcomeOf(child)
    // More than a pipe holds, so the write ends only when the program reads.
    await new Promise((resolve) => child.stdin!.write(`${KEY}${"\n".repeat(200_000)}`, resolve))
    child.kill("SIGINT")
    const impatience = setTimeout(() => child.kill("SIGKILL"), 5_000)
    assert.deepStrictEqual(await outcome, { code: 130, stdout: "", stderr: "Interrupted.\n" })
    clearTimeout(impatience)
    assert.isFalse(existsSync(join(home, "wallets")))
  })

  it("use the wallet by precedence: flag, key, file", async () => {
    const home = program.folder()
    const other = join(home, "other.key")
    writeFileSync(other, `${"11".repeat(32)}\n`, { mode: 0o600 })
    const env = { AGENTOS_HOME: home, AGENTOS_PRIVATE_KEY: KEY, AGENTOS_WALLET_FILE: other }
    assert.strictEqual((await program.run(["wallet", "address"], { env })).stdout, `${ADDRESS}\n`)
    const flagged = await program.run(["wallet", "address", "--wallet-file", other], { env })
    assert.strictEqual(flagged.stdout, "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A\n")
    const { AGENTOS_PRIVATE_KEY: _, ...withoutKey } = env
    assert.strictEqual((await program.run(["wallet", "address"], { env: withoutKey })).stdout, flagged.stdout)
  })

  it("reject a key file that others can read, and ask for a password only on a terminal", async () => {
    const home = program.folder()
    const open = join(home, "open.key")
    writeFileSync(open, KEY, { mode: 0o644 })
    const refused = await program.run(["wallet", "address", "--wallet-file", open])
    assert.strictEqual(refused.code, 3)
    assert.include(refused.stderr, `Next: chmod 600 ${open}`)
    const unasked = await program.run(["wallet", "create"])
    assert.strictEqual(unasked.code, 3)
    assert.include(unasked.stderr, "A password is required")
  })

  const option = {
    scheme: "exact",
    network: "eip155:196",
    asset: "0x779ded0c9e1022225f8e0630b35a9b54be713736",
    amount: "250000",
    payTo: "0x1111111111111111111111111111111111111111",
    maxTimeoutSeconds: 120,
    extra: { name: "USDT", version: "1" }
  }

  it("show the balance in the tokens of the server", async () => {
    const rpcUrl = `http://127.0.0.1:${(rpc.address() as AddressInfo).port}`
    const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_PRIVATE_KEY: KEY, AGENTOS_RPC_URL: rpcUrl }
    api.on("POST /api/v1/email/mailboxes", challengeReply([option]))
    const { code, stderr, stdout } = await program.run(["wallet", "balance", "--json"], { env })
    assert.strictEqual(code, 0, stderr)
    const { address, items } = JSON.parse(stdout) as { address: string; items: ReadonlyArray<Record<string, string>> }
    assert.deepInclude(items[0], { network: "eip155:196", amount: "1.25", baseUnits: "1250000" })
    assert.strictEqual(address, ADDRESS)
    api.on("POST /api/v1/email/mailboxes", challengeReply([{ ...option, network: "eip155:42220" }]))
    const elsewhere = await program.run(["wallet", "balance"], { env })
    assert.strictEqual(elsewhere.code, 9)
    assert.include(elsewhere.stderr, "eip155:196")
    // The RPC is that of the second network, and the first one has none.
    api.on("POST /api/v1/email/mailboxes", challengeReply([{ ...option, network: "eip155:402402" }, option]))
    const one = await program.run(["wallet", "balance", "--json"], { env })
    assert.strictEqual(one.code, 0, one.stderr)
    assert.include(one.stderr, "The balance on eip155:402402 is unknown")
    const found = JSON.parse(one.stdout) as { items: ReadonlyArray<Record<string, string>> }
    assert.deepStrictEqual(
      found.items.map(({ network }) => network),
      ["eip155:196"]
    )
  })

  it.each([
    ["number longer than a word of the chain", `0x${"f".repeat(65)}`, "returned no result for eth_chainId"],
    ["response without a reasonable end", `0x${"f".repeat(2 ** 20)}`, "did not return a JSON-RPC response"]
  ])("read no %s from an RPC", async (_, result, why) => {
    const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_PRIVATE_KEY: KEY, AGENTOS_RPC_URL: `${api.url()}/rpc` }
    api.on("POST /api/v1/email/mailboxes", challengeReply([option]))
    api.on("POST /rpc", { status: 200, body: { jsonrpc: "2.0", id: 1, result } })
    const { code, stderr } = await program.run(["wallet", "balance"], { env })
    assert.strictEqual(code, 9)
    assert.include(stderr, why)
  })
})
