import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeEach, describe, it, vi } from "vitest"
import { useApiDouble } from "../support/ApiDouble.ts"
import { play, type Reader, removeFolders, type Scene } from "../support/InProcess.ts"
import { challenge, KEY, paid, TOKEN } from "../support/PaidAnswers.ts"
import { ID, mailbox, OPERATION } from "../support/Samples.ts"

const api = useApiDouble()
const MAILBOXES = "POST /api/v1/email/mailboxes"
const CREATE = ["mailbox", "create", "ada"]
const CONSENT = ["--yes", "--max-amount", "0.25"]
const bought = paid({ mailbox, operationId: OPERATION, authentication: { accessToken: TOKEN } })

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] })
  api.seen.splice(0)
})
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

/** Writes an agentctl.json into the folder, which is also the home of a profile `shop` with a server and a wallet. */
const inFolder = (file: (url: string) => object) => (folder: string, url: string) => {
  mkdirSync(join(folder, "wallets"))
  writeFileSync(join(folder, "wallets", "own.key"), KEY, { mode: 0o600 })
  const shop = { baseUrl: url, walletFile: join(folder, "wallets", "own.key") }
  writeFileSync(join(folder, "config.json"), JSON.stringify({ profiles: { shop } }))
  writeFileSync(join(folder, "agentctl.json"), JSON.stringify(file(url)))
}

const SERVER_OF_FOLDER = inFolder((url) => ({ baseUrl: url }))

const buy = (scene: Partial<Scene>, reader: Reader = "program") =>
  play(
    api,
    {
      args: [...CREATE, ...CONSENT],
      exit: 0,
      server: { [MAILBOXES]: [challenge(), bought] },
      ...scene,
      env: { AGENTOS_TOKEN: "", AGENTOS_RPC_URL: "", ...scene.env }
    },
    reader
  )

describe("payment with --yes", () => {
  it("rejects a server from agentctl.json and sends it nothing", async () => {
    for (const reader of ["program", "person"] as const) {
      const { exit, text } = await buy({ prepare: SERVER_OF_FOLDER, env: { AGENTOS_BASE_URL: "" } }, reader)
      assert.strictEqual(exit, 3, text)
      assert.include(text, "http://server")
      assert.include(text, "./agentctl.json (base-url;")
      assert.include(text, "Pass --base-url yourself")
      assert.include(text, "Nothing was signed.")
    }
    assert.isEmpty(api.seen)
  })

  it("reports the rejection as JSON with the state of the payment", async () => {
    const args = [...CREATE, ...CONSENT, "--json"]
    const { text } = await buy({ args, prepare: SERVER_OF_FOLDER, env: { AGENTOS_BASE_URL: "" } })
    const { error } = JSON.parse(text.replaceAll(/^! /gm, "")) as { error: object }
    assert.deepInclude(error, { code: "CONFIGURATION", exitCode: 3, paymentState: "none" })
  })

  it.for([
    ["the profile, and with it the server, wallet and budget", "profile", { profile: "shop" }, {}],
    ["the wallet", "wallet-file", { walletFile: "wallets/own.key" }, { AGENTOS_PRIVATE_KEY: "" }],
    ["the RPC URL", "rpc-url", { rpcUrl: "https://rpc.example" }, {}]
  ] as const)("rejects an agentctl.json that sets %s", async ([, setting, file, env]) => {
    const { exit, text } = await buy({ prepare: inFolder(() => file), env })
    assert.strictEqual(exit, 3, text)
    assert.include(text, `./agentctl.json (${setting};`)
    assert.isEmpty(api.seen)
  })

  it("pays if flags and environment override agentctl.json", async () => {
    const prepare = inFolder(() => ({ baseUrl: "https://evil.example", walletFile: "no-wallet", profile: "shop" }))
    const { exit, text } = await buy({
      args: [...CREATE, ...CONSENT, "--profile", "default"],
      prepare
    })
    assert.strictEqual(exit, 0, text)
  })

  it("pays with the profile of the user", async () => {
    const { exit, text } = await buy({
      prepare: inFolder(() => ({})),
      env: { AGENTOS_BASE_URL: "", AGENTOS_PRIVATE_KEY: "", AGENTOS_PROFILE: "shop" }
    })
    assert.strictEqual(exit, 0, text)
    assert.match(text, /Server +http:\/\/server \(from profile shop\)/)
    assert.match(text, /Profile +shop \(from AGENTOS_PROFILE\)/)
    assert.match(text, /Wallet +0x\w+ \(~\/wallets\/own\.key, from profile shop\)/)
  })
})

describe("payment with confirmation", () => {
  it("shows a server and wallet from agentctl.json with their source before it asks", async () => {
    const scene = {
      args: CREATE,
      answers: ["y"],
      prepare: inFolder((url) => ({ baseUrl: url, walletFile: "wallets/own.key" })),
      env: { AGENTOS_BASE_URL: "", AGENTOS_PRIVATE_KEY: "" }
    }
    const { exit, text } = await buy(scene, "person")
    assert.strictEqual(exit, 0, text)
    const [shown] = text.split("[y/N]")
    assert.match(shown!, /Server +http:\/\/server \(from \.\/agentctl\.json\)/)
    assert.match(shown!, /Wallet +0x\w+ \(~\/wallets\/own\.key, from \.\/agentctl\.json\)/)
  })

  it("shows that agentctl.json chose the profile", async () => {
    const scene = {
      args: CREATE,
      answers: ["n"],
      prepare: inFolder(() => ({ profile: "shop" })),
      env: { AGENTOS_BASE_URL: "", AGENTOS_PRIVATE_KEY: "" }
    }
    const { exit, text } = await buy(scene, "person")
    assert.strictEqual(exit, 2, text)
    assert.match(text, /Server +http:\/\/server \(from profile shop, which \.\/agentctl\.json names\)/)
    assert.match(text, /Profile +shop \(from \.\/agentctl\.json\)/)
  })
})

describe("access token", () => {
  it("from the environment is not sent to a server from agentctl.json", async () => {
    for (const file of [(baseUrl: string) => ({ baseUrl }), () => ({ profile: "shop" })]) {
      const { exit, text } = await buy({
        args: ["mailbox", "list"],
        prepare: inFolder(file),
        env: { AGENTOS_BASE_URL: "", AGENTOS_TOKEN: TOKEN }
      })
      assert.strictEqual(exit, 3, text)
      assert.include(text, "AGENTOS_TOKEN")
      assert.include(text, "http://server")
      assert.include(text, "./agentctl.json")
    }
    assert.isEmpty(api.seen)
  })

  it("from standard input is not read for such a server", async () => {
    const { exit } = await buy({
      args: ["login"],
      stdin: `${TOKEN}\n`,
      prepare: SERVER_OF_FOLDER,
      env: { AGENTOS_BASE_URL: "" }
    })
    assert.strictEqual(exit, 3)
    assert.isEmpty(api.seen)
  })

  it("is asked for with the server and its source", async () => {
    const scene = { args: ["login"], answers: [TOKEN], prepare: SERVER_OF_FOLDER, env: { AGENTOS_BASE_URL: "" } }
    const server = { "GET /api/v1/events": [{ data: { items: [] } }] }
    const { exit, text } = await buy({ ...scene, server }, "person")
    assert.include(text, "Access token for http://server (from ./agentctl.json): ")
    assert.strictEqual(exit, 0, text)
  })
})

describe("number release --yes", () => {
  it("rejects a server from agentctl.json", async () => {
    const { exit, text } = await buy({
      args: ["number", "release", ID, "--yes"],
      prepare: (folder, url) => {
        inFolder(() => ({ profile: "shop" }))(folder, url)
        const profiles = { shop: { [url]: TOKEN } }
        writeFileSync(join(folder, "credentials.json"), JSON.stringify({ profiles }), { mode: 0o600 })
      },
      env: { AGENTOS_BASE_URL: "" }
    })
    assert.strictEqual(exit, 3, text)
    assert.include(text, "Nothing was done.")
    assert.isEmpty(api.seen)
  })
})

describe("the wallet of a folder", () => {
  const scene = (file: object, ...args: ReadonlyArray<string>) => ({
    args: ["wallet", "address", ...args],
    exit: 0,
    prepare: inFolder(() => file),
    env: { AGENTOS_BASE_URL: "", AGENTOS_PRIVATE_KEY: "" }
  })

  it.each([
    ["sets it", { walletFile: "wallets/own.key" }, "is from ./agentctl.json"],
    ["names its profile", { profile: "shop" }, "is from profile shop, which ./agentctl.json names"]
  ])(
    "has no address for a program if agentctl.json %s, and is shown with a warning to a person",
    async (_, file, why) => {
      const refused = await play(api, scene(file), "program")
      assert.strictEqual(refused.exit, 3, refused.text)
      assert.strictEqual(refused.stdout.length, 0)
      assert.include(refused.text, `The wallet ~/wallets/own.key ${why}, so the author of this folder chose it.`)
      const shown = await play(api, scene(file), "person")
      assert.strictEqual(shown.exit, 0, shown.text)
      assert.include(shown.text, `${why}, so the author of this folder chose it.`)
      assert.match(shown.stdout.toString(), /^0x[0-9a-fA-F]{40}\n$/)
    }
  )

  const described = { name: "AgentOS", version: "1.0.0", environment: "sandbox" }
  const ofOwner = (...args: ReadonlyArray<string>) => ({
    ...scene({ walletFile: "wallets/own.key" }),
    args,
    env: { AGENTOS_PRIVATE_KEY: "" },
    server: { "GET /api/v1": [{ data: described }] }
  })

  it("is not shown by whoami to a program, and with a warning to a person", async () => {
    const refused = await play(api, ofOwner("whoami"), "program")
    assert.strictEqual(refused.exit, 3, refused.text)
    assert.strictEqual(refused.stdout.length, 0)
    assert.include((await play(api, ofOwner("whoami"), "person")).text, "the author of this folder chose it.")
  })

  it("is a warning of doctor, which names no address to send money to", async () => {
    const { text } = await play(api, ofOwner("doctor"), "program")
    assert.include(text, "the author of this folder chose it.")
    assert.notMatch(text, /0x[0-9a-fA-F]{40}/)
  })

  it.each([
    ["login", "--wallet"],
    ["token", "rotate", "--yes"]
  ])("signs in to no account: %s", async (...args) => {
    const { exit, text } = await play(api, ofOwner(...args), "person")
    assert.strictEqual(exit, 3, text)
    assert.include(text, "Nothing was signed.")
    assert.isEmpty(api.seen)
  })

  it("has an address for a program that names it", async () => {
    const named = await play(api, scene({ walletFile: "other.key" }, "--wallet-file", "wallets/own.key"), "program")
    assert.strictEqual(named.exit, 0, named.text)
  })
})

describe("an agentctl.json that is no regular file", () => {
  it.skipIf(process.platform === "win32").each([
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
    ["a link to a device", (path: string) => symlinkSync("/dev/zero", path)]
  ])("is refused and not waited for: %s", async (_, make) => {
    const prepare = (folder: string) => make(join(folder, "agentctl.json"))
    const { exit, text } = await play(api, { args: ["config", "list"], exit: 3, prepare }, "program")
    assert.strictEqual(exit, 3, text)
    assert.include(text, "~/agentctl.json is not a regular file.")
  })
})
