import { type Check, type Host, runProgram, type Sink } from "@agentos/node/command-line"
import { assert, describe, it } from "@effect/vitest"
import { generateDkimKey } from "@agentos/provider-smtp"
import { Effect, Redacted } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
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

  it("says which migrations are pending, applies them, and lists jobs only afterwards", async () => {
    const env = { AGENTOS_DATA_DIR: join(folder, "data") }
    const before = await run(["migrate", "--check", "--json"], env)
    assert.strictEqual(before.exit, 2)
    const { pending } = JSON.parse(before.stdout) as { pending: ReadonlyArray<string> }
    assert.include(pending, "0001_baseline")
    assert.include((await run(["jobs", "list"], env)).stderr, "Run agentos-server migrate")
    assert.isFalse(existsSync(env.AGENTOS_DATA_DIR), "a check created the database")
    const applied = await run(["migrate", "--json"], env)
    assert.deepStrictEqual(JSON.parse(applied.stdout), { applied: pending, pending: [] })
    assert.strictEqual((await run(["migrate", "--check"], env)).exit, 0)
    assert.deepStrictEqual(JSON.parse((await run(["jobs", "list", "--json"], env)).stdout), { items: [] })
  })

  it("reports an environment file that cannot be read", async () => {
    const { exit, stderr } = await run(["check-config", "--env-file", "absent.env"])
    assert.strictEqual(exit, 3)
    assert.include(stderr, "--env-file cannot be read")
  })

  it("prints keys and tokens that a server accepts", async () => {
    assert.match((await run(["token", "key"])).stdout, /^1:[A-Za-z0-9+/]{43}=\n$/)
    assert.match((await run(["token", "key"], { AGENTOS_KEYS: "1:x,7:y" })).stdout, /^8:/)
    assert.strictEqual((await run(["token", "key"], { AGENTOS_KEYS: "255:x" })).exit, 3)
    assert.match((await run(["token", "operator"])).stdout, /^[0-9a-f]{64}\n$/)
  })

  describe("check-dns", () => {
    const DOMAIN = "agents.example.com"
    const SENDER = "2001:db8::25"
    type Records = ReadonlyArray<{ readonly name: string; readonly type: string; readonly value: string }>

    /** Runs the command on a zone with these records. */
    const check = async (change: (records: Records) => Records = (records) => records) => {
      const { privateKey, record } = await Effect.runPromise(generateDkimKey(DOMAIN, "s1"))
      const keyFile = join(folder, "dkim.pem")
      writeFileSync(keyFile, Redacted.value(privateKey))
      const reverse = `5.2.0.0.${"0.".repeat(20)}8.b.d.0.1.0.0.2.ip6.arpa`
      const zone = change([
        { name: "example.com", type: "A", value: "192.0.2.1" },
        { name: "mx.example.com", type: "A", value: "192.0.2.2" },
        { name: DOMAIN, type: "MX", value: "10 MX.example.com." },
        { name: DOMAIN, type: "TXT", value: "v=spf1 ip6:2001:db8::/32 -all" },
        record,
        { name: `_dmarc.${DOMAIN}`, type: "TXT", value: "v=DMARC1; p=quarantine" },
        { name: reverse, type: "PTR", value: "out.relay.example" },
        { name: "out.relay.example", type: "AAAA", value: "2001:DB8:0::25" }
      ])
      const zoneFile = join(folder, "zone.json")
      writeFileSync(zoneFile, JSON.stringify(zone))
      const { exit, stderr, stdout } = await run(["check-dns", "--json", "--sends-from", SENDER], {
        AGENTOS_PUBLIC_URL: "https://example.com",
        AGENTOS_EMAIL_DOMAIN: DOMAIN,
        AGENTOS_SMTP_RELAY_HOST: "relay.example.com",
        AGENTOS_SMTP_NAME: "mx.example.com",
        AGENTOS_DKIM_SELECTOR: "s1",
        AGENTOS_DKIM_KEY_FILE: keyFile,
        AGENTOS_DNS_ZONE_FILE: zoneFile
      })
      const { checks, healthy } = JSON.parse(stdout) as {
        readonly healthy: boolean
        readonly checks: ReadonlyArray<Check>
      }
      assert.strictEqual(healthy, exit === 0, stderr)
      return { exit, checks, wrong: checks.filter(({ status }) => status !== "ok") }
    }

    it("finds nothing to change in complete records", async () => {
      const { checks, exit, wrong } = await check()
      assert.deepStrictEqual(wrong, [])
      assert.strictEqual(checks.length, 8)
      assert.strictEqual(exit, 0)
    })

    it("says what to publish for every missing record", async () => {
      const { exit, wrong } = await check(() => [])
      assert.strictEqual(exit, 1)
      assert.deepStrictEqual(
        wrong.map(({ detail, name, status }) => `${name}: ${status}, ${detail}`),
        [
          "A, AAAA example.com (API): failed, not published",
          "A, AAAA mx.example.com (SMTP listener): failed, not published",
          `MX ${DOMAIN}: failed, not published`,
          `TXT ${DOMAIN} (SPF): failed, not published`,
          `TXT s1._domainkey.${DOMAIN} (DKIM): failed, not published`,
          `TXT _dmarc.${DOMAIN} (DMARC): failed, not published`,
          `SPF of ${DOMAIN} for ${SENDER}: failed, none`,
          `PTR ${SENDER}: failed, not published`
        ]
      )
      for (const { fix } of wrong) assert.isNotNull(fix)
    })

    it.each([
      ["MX", "MX", "20 other.example.com", /Add: 10 mx\.example\.com/],
      ["SPF", "TXT", "v=spf1 +all", /lets everyone send/],
      ["DKIM", "TXT", "v=DKIM1; k=rsa; p=AAAA", /not the public half/],
      ["DMARC", "TXT", "v=DMARC1; p=all", /Set p to/],
      ["PTR", "AAAA", "2001:db8::26", /points back/]
    ])("refuses a wrong %s record", async (name, type, value, advice) => {
      const isChanged: Readonly<Record<string, (record: Records[number]) => boolean>> = {
        MX: (record) => record.type === "MX",
        SPF: (record) => record.value.startsWith("v=spf1"),
        DKIM: (record) => record.value.startsWith("v=DKIM1"),
        DMARC: (record) => record.value.startsWith("v=DMARC1"),
        PTR: (record) => record.type === "AAAA"
      }
      const { exit, wrong } = await check((records) =>
        records.map((record) => (isChanged[name]?.(record) === true ? { ...record, type, value } : record))
      )
      assert.strictEqual(exit, 1)
      assert.deepStrictEqual(
        wrong.map(({ status }) => status),
        ["failed"]
      )
      assert.match(wrong[0]?.fix ?? "", advice)
    })

    it("rejects an address that is not an IP address", async () => {
      assert.strictEqual((await run(["check-dns", "--sends-from", "relay"])).exit, 3)
    })
  })
})
