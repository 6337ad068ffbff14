import { type Host, runProgram, type Sink } from "@agentos/command-line"
import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { COMMAND_TREE, COMMANDS } from "../src/command/Commands.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "agentos-server-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs a command in this process, without a terminal. */
const run = async (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  let [stdout, stderr] = ["", ""]
  const sink = (write: (text: string) => void): Sink => ({
    write: (data) => write(Buffer.from(data).toString()),
    isTerminal: false,
    columns: undefined,
    drained: () => Promise.resolve()
  })
  const host: Host = {
    argv,
    env,
    workingDirectory: folder,
    homeDirectory: folder,
    stdout: sink((text) => (stdout += text)),
    stderr: sink((text) => (stderr += text)),
    stdinIsTerminal: false,
    readStdin: () => Promise.resolve(""),
    ask: () => Promise.reject(new Error("no terminal")),
    now: () => 0,
    sleep: () => Promise.resolve(),
    signal: new AbortController().signal
  }
  const exit = await runProgram(host, COMMAND_TREE)
  return { exit, stdout, stderr }
}

describe("agentos-server", () => {
  it("has help with an example for every command", async () => {
    for (const { examples, name } of COMMANDS) {
      const { exit, stdout } = await run([...name.split(" "), "--help"])
      assert.strictEqual(exit, 0)
      assert.include(stdout, `agentos-server ${name}`)
      assert.isAbove(examples.length, 0)
      for (const line of stdout.split("\n")) assert.isAtMost(line.length, 100, line)
    }
    const { exit, stderr } = await run(["strat"])
    assert.strictEqual(exit, 3)
    assert.include(stderr, "Did you mean start?")
  })

  it("writes an environment file that only its owner can read, and replaces one only with --force", async () => {
    const path = join(folder, "agentos.env")
    assert.strictEqual((await run(["init"])).exit, 0)
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    const first = readFileSync(path, "utf8")
    assert.match(first, /^AGENTOS_KEYS=1:[A-Za-z0-9+/]{43}=$/m)
    const { exit, stderr } = await run(["init"])
    assert.strictEqual(exit, 6)
    assert.include(stderr, "exists already")
    assert.strictEqual(readFileSync(path, "utf8"), first)
    assert.strictEqual((await run(["init", "--force"])).exit, 0)
    assert.notStrictEqual(readFileSync(path, "utf8"), first)
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
  })

  it("reports all problems of the configuration at once, and unknown variables", async () => {
    const { exit, stderr } = await run(["check-config"], { AGENTOS_EMIAL_DOMAIN: "a.example" })
    assert.strictEqual(exit, 1)
    assert.include(stderr, "Did you mean AGENTOS_EMAIL_DOMAIN?")
    for (const name of ["AGENTOS_PUBLIC_URL", "AGENTOS_KEYS", "DATABASE_URL", "AGENTOS_NETWORKS"])
      assert.include(stderr, `${name} is missing`)
  })

  it(
    "says which migrations are pending, applies them, and lists jobs only afterwards",
    { timeout: 60_000 },
    async () => {
      const env = { AGENTOS_DATA_DIR: join(folder, "data") }
      const before = await run(["migrate", "--check", "--json"], env)
      assert.strictEqual(before.exit, 2)
      const { pending } = JSON.parse(before.stdout) as { pending: ReadonlyArray<string> }
      assert.include(pending, "0001_tenants")
      assert.include((await run(["jobs", "list"], env)).stderr, "Run agentos-server migrate")
      const applied = await run(["migrate", "--json"], env)
      assert.deepStrictEqual(JSON.parse(applied.stdout), { applied: pending, pending: [] })
      assert.strictEqual((await run(["migrate", "--check"], env)).exit, 0)
      assert.deepStrictEqual(JSON.parse((await run(["jobs", "list", "--json"], env)).stdout), { items: [] })
    }
  )

  it("prints keys and tokens that a server accepts", async () => {
    assert.match((await run(["token", "key"])).stdout, /^1:[A-Za-z0-9+/]{43}=\n$/)
    assert.match((await run(["token", "key"], { AGENTOS_KEYS: "1:x,7:y" })).stdout, /^8:/)
    assert.strictEqual((await run(["token", "key"], { AGENTOS_KEYS: "255:x" })).exit, 3)
    assert.match((await run(["token", "operator"])).stdout, /^[0-9a-f]{64}\n$/)
  })
})
