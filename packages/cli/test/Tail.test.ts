import { createHmac } from "node:crypto"
import { Output } from "@agentos/node/command-line"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, expect, it } from "vitest"
import { eventLine } from "../src/tail/EventHandling.ts"
import { errorReply, useApiDouble } from "./support/ApiDouble.ts"
import { challenge, KEY, limitsOf, PAYER, rpcReplies } from "./support/PaidAnswers.ts"
import { outcomeOf, useProgram } from "./support/Program.ts"
import { event as sample } from "./support/Samples.ts"

const program = useProgram()
const api = useApiDouble()

const connected = (cwd = program.folder()) => ({
  cwd,
  env: { AGENTOS_BASE_URL: api.url(), AGENTOS_TOKEN: "at_v1_0123456789abcdef" }
})

const event = (last: number, more: object = {}) => ({
  ...sample,
  eventId: `0190f3c2-0000-7000-8000-00000000000${last}`,
  createdAt: `2026-01-31T12:00:0${last}.000Z`,
  payload: { ...sample.payload, subject: `Hello \u001b[31m${last}` },
  ...more
})

/** Sets up a server without WebSockets and with these open events. */
const serve = (...items: ReadonlyArray<object>): void => {
  const realtime = {
    token: "t",
    expiresAt: "2026-01-31T12:15:00.000Z",
    websocketUrl: `${api.url().replace("http", "ws")}/s`
  }
  api.on("GET /api/v1/events/realtime-token", { data: { realtime, items: [] } })
  api.on("GET /api/v1/events", { data: { items } }, { data: { items: [] } })
  api.on("POST /api/v1/events/list", { data: { items: [], nextCursor: null } })
  api.on("POST /api/v1/events/ack", { data: { event: event(1) } })
  api.seen.length = 0
}

const acknowledged = (): ReadonlyArray<string> =>
  api.seen
    .filter(({ url }) => url === "/api/v1/events/ack")
    .map(({ body }) => (JSON.parse(body) as { eventId: string }).eventId.slice(-1))

describe("events tail", () => {
  it("observes over REST if WebSockets are blocked: one line of JSON per event, nothing acknowledged", async () => {
    serve(event(1), event(2))
    const { code, stderr, stdout } = await program.execute(["events", "tail", "--max", "2"], connected())
    await expect(stdout).toMatchFileSnapshot("golden/events-tail.ndjson")
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "Reconnecting in")
    assert.include(stderr, "Polling over REST")
    assert.deepStrictEqual(acknowledged(), [])
  })

  it("prints a line that fits the terminal", () => {
    const sink = { write: () => {}, isTerminal: false, columns: undefined, drained: () => Promise.resolve() }
    const output = new Output({ stdout: sink, stderr: sink }, { json: false, quiet: false, color: false })
    const line = eventLine(event(1), output, { json: false, columns: 80 })
    const about = "bob@outside.example: Hello \ufffd…".padEnd(29)
    assert.strictEqual(line, `2026-01-31 12:00:01Z  email.received     ${about}  ${event(1).eventId.slice(-8)}\n`)
  })

  it("prints the DMARC result of the sender, and no control characters", () => {
    const sink = { write: () => {}, isTerminal: false, columns: undefined, drained: () => Promise.resolve() }
    const output = new Output({ stdout: sink, stderr: sink }, { json: false, quiet: false, color: false })
    const authentication = { spf: "pass", dkim: "none", dmarc: "fail", domain: null }
    const hostile = event(1, {
      eventId: "\u001b[2Jid\n",
      createdAt: "\u001b]0;owned\u0007",
      payload: { ...sample.payload, subject: "Hi", authentication }
    })
    const line = eventLine(hostile, output, { json: false, columns: 120 })
    assert.include(line, "bob@outside.example (DMARC fail): Hi")
    assert.notMatch(line, /[\u001b\u0007]|\n./)
  })

  it("passes each event to the command in order and acknowledges successes", async () => {
    serve(event(1), event(2), event(3))
    const folder = program.folder()
    const command =
      'cat >> read; echo "$AGENTOS_EVENT_TYPE $AGENTOS_EVENT_ID"; case "$AGENTOS_EVENT_ID" in *2) exit 7 ;; esac'
    const args = ["events", "tail", "--types", "email.received", "--max", "3", "--exec", command]
    const { code, stderr, stdout } = await program.execute(args, connected(folder))
    assert.deepStrictEqual(
      stdout.trim().split("\n"),
      [1, 2, 3].map((last) => `email.received ${event(last).eventId}`)
    )
    const read = readFileSync(join(folder, "read"), "utf8").trim().split("\n")
    assert.deepStrictEqual(
      read.map((line) => JSON.parse(line) as unknown),
      [event(1), event(2), event(3)]
    )
    assert.deepStrictEqual([code, acknowledged()], [1, ["1", "3"]])
    assert.include(stderr, "the command exited with 7. It stays unacknowledged.")
    assert.include(stderr, "1 event of 3 failed.")
  })

  it("passes the environment to the command without key, password and token", async () => {
    serve(event(1))
    const secrets = {
      AGENTOS_PRIVATE_KEY: "ab".repeat(32),
      AGENTOS_PASSWORD: "secret words",
      AGENTOS_TOKEN: "at_v1_0123456789abcdef"
    }
    const { env } = connected()
    const command = 'env | grep AGENTOS_ | cut -d= -f1 | grep -v AGENTOS_EVENT | sort; echo "$OTHER"'
    const args = ["events", "tail", "--max", "1", "--ack", "never", "--exec", command]
    const { code, stderr, stdout } = await program.execute(args, { env: { ...env, ...secrets, OTHER: "kept" } })
    assert.deepStrictEqual([code, stdout], [0, "AGENTOS_BASE_URL\nAGENTOS_HOME\nkept\n"], stderr)
  })

  it("acknowledges with --ack always, and not with --ack never", async () => {
    serve(event(1))
    const always = ["events", "tail", "--types", "email.received", "--max", "1", "--exec", "false", "--ack", "always"]
    assert.strictEqual((await program.execute(always, connected())).code, 0)
    assert.deepStrictEqual(acknowledged(), ["1"])
    serve(event(1))
    const never = ["events", "tail", "--max", "1", "--exec", "true", "--ack", "never"]
    assert.strictEqual((await program.execute(never, connected())).code, 0)
    assert.deepStrictEqual(acknowledged(), [])
  })

  it("posts events and acknowledges only after a 2xx status", async () => {
    serve(event(1), event(2))
    api.on("POST /hook", { status: 503, body: "no" }, { status: 204, body: "" })
    const args = ["events", "tail", "--types", "email.received", "--max", "2", "--forward-to", `${api.url()}/hook`]
    const { code, stderr, stdout } = await program.execute(args, connected())
    assert.deepStrictEqual([code, acknowledged()], [1, ["2"]])
    assert.deepStrictEqual(JSON.parse(stdout), event(2))
    assert.include(stderr, "answered 503")
    const posted = api.seen.filter(({ url }) => url === "/hook")
    assert.deepStrictEqual(
      posted.map(({ body }) => JSON.parse(body) as unknown),
      [event(1), event(2)]
    )
    assert.isUndefined(posted[0]!.headers.authorization)
  })

  it("signs its posts as event webhooks do, and prints the secret once, the same at each start", async () => {
    const folder = program.folder()
    const args = ["events", "tail", "--types", "email.received", "--max", "2", "--forward-to", `${api.url()}/hook`]
    const secrets: Array<string> = []
    for (let start = 0; start < 2; start++) {
      api.seen.splice(0)
      serve(event(1), event(2))
      api.on("POST /hook", { status: 204, body: "" })
      const { cwd, env } = connected()
      const { stderr } = await program.execute(args, { cwd, env: { ...env, AGENTOS_HOME: folder } })
      const [secret = "", ...more] = stderr.match(/whsec_[\w+/=]+/g) ?? []
      assert.isEmpty(more)
      secrets.push(secret)
      for (const { body, headers } of api.seen.filter(({ url }) => url === "/hook")) {
        const { eventId } = JSON.parse(body) as { readonly eventId: string }
        const signed = `${eventId}.${String(headers["webhook-timestamp"])}.${body}`
        const key = Buffer.from(secret.slice(6), "base64")
        assert.strictEqual(headers["webhook-id"], eventId)
        assert.strictEqual(
          headers["webhook-signature"],
          `v1,${createHmac("sha256", key).update(signed).digest("base64")}`
        )
      }
    }
    assert.match(secrets[0]!, /^whsec_.{32}$/)
    assert.strictEqual(secrets[1], secrets[0])
  })

  it("ends the running command on an interruption and does not acknowledge its event", async () => {
    serve(event(1))
    const folder = program.folder()
    const args = ["events", "tail", "--types", "email.received", "--exec", "echo begun; sleep 60; echo done"]
    const child = program.start(args, connected(folder))
    const outcome = outcomeOf(child)
    await new Promise((resolve) => child.stdout!.once("data", resolve))
    child.kill("SIGINT")
    const { code, stderr, stdout } = await outcome
    assert.deepStrictEqual([code, stdout, acknowledged()], [130, "begun\n", []])
    assert.include(stderr, "Interrupted.")
  })

  it("ends at SIGTERM while a server or a URL does not answer, or a command ignores the signal", async () => {
    const cases: ReadonlyArray<readonly [hanging: string, args: ReadonlyArray<string>]> = [
      ["GET /api/v1/events/realtime-token", ["events", "tail"]],
      ["GET /api/v1/events/realtime-token", ["voice", "answer", "--exec", "true"]],
      ["POST /hook", ["events", "tail", "--forward-to", `${api.url()}/hook`]],
      ["POST /api/v1/events/ack", ["events", "tail", "--ack", "always"]],
      ["", ["events", "tail", "--exec", "trap '' TERM; echo begun; while :; do sleep 1; done"]]
    ]
    for (const [hanging, args] of cases) {
      api.reset()
      serve(event(1))
      if (hanging !== "") api.on(hanging, "hang")
      const child = program.start(args, connected())
      const outcome = outcomeOf(child)
      const begun = new Promise<void>((resolve) => {
        if (hanging === "") child.stdout!.once("data", () => resolve())
        else api.onHanging(resolve)
      })
      await begun
      child.kill("SIGTERM")
      assert.deepStrictEqual([args, (await outcome).code], [args, 130])
      assert.deepStrictEqual(acknowledged(), hanging.includes("ack") ? ["1"] : [])
    }
    api.reset()
  })

  it("exits if the token is rejected or the flags exclude each other", async () => {
    serve()
    api.on("GET /api/v1/events/realtime-token", errorReply(401, "AUTH_REQUIRED"))
    assert.strictEqual((await program.execute(["events", "tail"], connected())).code, 4)
    const both = ["events", "tail", "--exec", "true", "--forward-to", "http://localhost:1"]
    assert.strictEqual((await program.execute(both, connected())).code, 3)
    assert.strictEqual((await program.execute(["events", "tail", "--forward-to", "ftp://x"], connected())).code, 3)
  })
})

describe("doctor", () => {
  const plainOf = (text: string): string =>
    text
      .replaceAll(api.url(), "http://server")
      .replaceAll(/(?<=node +ok +)[\d.]+/g, "VERSION")
      .replaceAll(/\d+ ms/g, "N ms")

  it("prints the checks and the fixes", async () => {
    serve()
    api.on("GET /api/v1/limits", limitsOf(PAYER))
    api.on("GET /api/v1", { data: { name: "AgentOS", version: "1.0.0", environment: "sandbox" } })
    const { code, stderr, stdout } = await program.execute(["doctor"], connected())
    await expect(plainOf(stdout)).toMatchFileSnapshot("golden/doctor.txt")
    await expect(plainOf(stderr)).toMatchFileSnapshot("golden/doctor-fixes.txt")
    assert.strictEqual(code, 0)
  })

  it.for([
    ["sandbox", "agentctl dev", "agentctl sandbox fund"],
    ["production", "agentctl wallet create", `Send USDT to ${PAYER}.`]
  ] as const)("says where a wallet and its money come from: %s", async ([environment, forWallet, forMoney]) => {
    api.on("GET /api/v1", { data: { name: "AgentOS", version: "1.0.0", environment } })
    api.on("POST /api/v1/email/mailboxes", challenge())
    const fixOf = async (name: string, wallet: Readonly<Record<string, string>>): Promise<unknown> => {
      const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_RPC_URL: `${api.url()}/rpc`, ...wallet }
      const { stdout } = await program.execute(["doctor", "--json"], { cwd: program.folder(), env })
      const { checks } = JSON.parse(stdout) as { checks: ReadonlyArray<Record<string, unknown>> }
      return checks.find((check) => check["name"] === name)?.["fix"]
    }
    assert.strictEqual(await fixOf("wallet", {}), forWallet)
    api.on("POST /rpc", ...rpcReplies(0n))
    assert.strictEqual(await fixOf("balance", { AGENTOS_PRIVATE_KEY: KEY }), forMoney)
  })

  it("does not ask to wait for a server if the wallet on this machine is wrong", async () => {
    api.on("GET /api/v1", { data: { name: "AgentOS", version: "1.0.0", environment: "sandbox" } })
    const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_PRIVATE_KEY: "junk" }
    const { stdout } = await program.execute(["doctor", "--json"], { cwd: program.folder(), env })
    const { checks } = JSON.parse(stdout) as { checks: ReadonlyArray<Record<string, unknown>> }
    assert.deepInclude(
      checks.find((check) => check["name"] === "wallet"),
      { status: "failed", fix: null }
    )
  })

  it("warns, as whoami does, if the token is of another wallet than the one that pays", async () => {
    serve()
    api.on("GET /api/v1/limits", limitsOf(`0x${"2".repeat(40)}`))
    api.on("GET /api/v1", { data: { name: "AgentOS", version: "1.0.0", environment: "sandbox" } })
    const { cwd, env } = connected()
    const place = { cwd, env: { ...env, AGENTOS_PRIVATE_KEY: KEY } }
    const doctor = await program.execute(["doctor", "--json"], place)
    const { checks } = JSON.parse(doctor.stdout) as { checks: ReadonlyArray<Record<string, unknown>> }
    assert.deepInclude(
      checks.find((check) => check["name"] === "token"),
      {
        status: "warning",
        detail: `of 0x${"2".repeat(40)}, another wallet than the one that pays (from AGENTOS_TOKEN)`,
        fix: "unset AGENTOS_TOKEN, then agentctl login --wallet if the wallet has bought here"
      }
    )
    const whoami = await program.execute(["whoami"], place)
    assert.strictEqual(whoami.code, 0, whoami.stderr)
    assert.include(whoami.stdout, `of 0x${"2".repeat(40)} (from AGENTOS_TOKEN)`)
    assert.include(whoami.stderr, "so the server refuses its payments, and nothing is charged")
    api.on("GET /api/v1/limits", limitsOf(PAYER))
    assert.notInclude((await program.execute(["whoami"], place)).stderr, "refuses its payments")
  })

  it("names no answer of a server if none is configured", async () => {
    const { stdout } = await program.execute(["doctor"], {
      cwd: program.folder(),
      env: { AGENTOS_PRIVATE_KEY: KEY }
    })
    assert.match(stdout, /balance\s+skipped\s+no server is known/)
  })

  it("fails if a check is broken, and reports it as JSON", async () => {
    api.on("GET /api/v1", errorReply(401, "AUTH_REQUIRED"))
    const { code, stdout } = await program.execute(["doctor", "--json"], connected())
    const { checks, healthy } = JSON.parse(stdout) as {
      healthy: boolean
      checks: Array<{ name: string; status: string }>
    }
    assert.deepStrictEqual([code, healthy], [1, false])
    assert.deepInclude(
      checks.map(({ name, status }) => `${name} ${status}`),
      "server failed"
    )
  })
})

describe("dev", () => {
  it("names the command that installs the sandbox, outside the repository and without a terminal", async () => {
    const folder = program.folder()
    const { code, stderr } = await program.execute(["dev"], { cwd: folder })
    assert.strictEqual(code, 5)
    assert.match(stderr, /The sandbox is not installed\. It is a package of its own, @agentos\/sandbox@\d/)
    assert.include(stderr, "Next: agentctl dev --data /path/to/agentos/.agentos\nNext: agentctl dev --yes\n")
    assert.isFalse(existsSync(join(folder, ".agentos")))
  })
})
