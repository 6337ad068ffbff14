import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { addEntry, readEntries, readEntry, withEntry } from "../../src/payment/Journal.ts"
import {
  isOpen,
  JOURNAL_TRANSITIONS,
  type JournalState,
  mayHaveCharged,
  newPaymentId
} from "../../src/payment/JournalEntry.ts"
import { withLock } from "../../src/file/FileLock.ts"
import { answered, codeOf, entry, HOUR, machine, NOW, removeMachines, SIGNATURE } from "../support/Machine.ts"
import { outcomeOf, useProgram } from "../support/Program.ts"

const program = useProgram()
afterAll(removeMachines)

describe("journal", () => {
  it("stores entries with mode 0600", async () => {
    const host = machine()
    const first = entry({ createdAt: NOW - 1 })
    const second = entry({ body: null, state: answered("settled") })
    await addEntry(host, first)
    await addEntry(host, second)
    assert.deepStrictEqual(await readEntries(host), [second, first])
    assert.strictEqual(statSync(join(host.home, "journal")).mode & 0o777, 0o700)
    assert.strictEqual(statSync(join(host.home, "journal", `${first.id}.json`)).mode & 0o777, 0o600)
    assert.include(await codeOf(() => addEntry(host, first)), "EEXIST")
  })

  it("allows only the moves of its table", async () => {
    const states: ReadonlyArray<JournalState> = [
      { tag: "prepared" },
      { tag: "sent", attempts: 1 },
      answered("settled"),
      { tag: "given-up" }
    ]
    for (const from of states)
      for (const to of states) {
        const host = machine()
        const written = entry({ state: from })
        await addEntry(host, written)
        const code = await codeOf(() => withEntry(host, written.id, async (held) => void (await held.advance(to))))
        const allowed = JOURNAL_TRANSITIONS[from.tag].includes(to.tag)
        assert.strictEqual(code, allowed ? "done" : "FAILED", `${from.tag} to ${to.tag}`)
        assert.deepStrictEqual((await readEntry(host, written.id)).state, allowed ? to : from)
      }
  })

  it("distinguishes open payments from possibly charged ones", () => {
    const of = (state: JournalState) => [isOpen(entry({ state })), mayHaveCharged(entry({ state }), NOW)]
    assert.deepStrictEqual(of({ tag: "prepared" }), [true, true])
    assert.deepStrictEqual(of({ tag: "sent", attempts: 2 }), [true, true])
    assert.deepStrictEqual(of(answered("unknown", 409)), [true, true])
    assert.deepStrictEqual(of(answered("settled")), [false, true])
    assert.deepStrictEqual(of(answered("settled", 502)), [true, true])
    assert.deepStrictEqual(of(answered("none", 409)), [false, false])
    assert.deepStrictEqual(of(answered("refunded", 502)), [false, false])
    assert.deepStrictEqual(of({ tag: "given-up" }), [false, false])
  })

  it("fails on an unreadable file instead of skipping it", async () => {
    const host = machine()
    const written = entry()
    await addEntry(host, written)
    // Another format, and a file that is empty after a power loss.
    for (const text of ['{"version":1}', ""]) {
      writeFileSync(join(host.home, "journal", `${written.id}.json`), text)
      assert.strictEqual(await codeOf(() => readEntries(host)), "CONFIGURATION")
      const { code, stderr } = await program.run(["payments", "list"], { env: { AGENTOS_HOME: host.home } })
      assert.strictEqual(code, 3)
      assert.include(stderr, "Do not delete it before you know what it paid for.\n")
    }
  })

  it("rejects an entry whose file name or time does not match its id", async () => {
    const host = machine()
    const written = entry()
    await addEntry(host, written)
    const other = randomUUID()
    renameSync(join(host.home, "journal", `${written.id}.json`), join(host.home, "journal", `${other}.json`))
    assert.strictEqual(await codeOf(() => readEntry(host, other)), "CONFIGURATION")
    const disguised = entry({ id: newPaymentId(NOW - HOUR), createdAt: NOW })
    await addEntry(host, disguised)
    assert.strictEqual(await codeOf(() => readEntry(host, disguised.id)), "CONFIGURATION")
  })

  it("is printed without the signed payment", async () => {
    const host = machine()
    const written = entry({ state: { tag: "sent", attempts: 1 } })
    await addEntry(host, written)
    const env = { AGENTOS_HOME: host.home }
    for (const args of [
      ["payments", "list"],
      ["payments", "show", written.id]
    ])
      for (const more of [[], ["--json"]]) {
        const { code, stderr, stdout } = await program.run([...args, ...more], { env })
        assert.strictEqual(code, 0, stderr)
        assert.include(stdout, written.id)
        assert.notInclude(stdout + stderr, SIGNATURE)
      }
    assert.strictEqual((await program.run(["payments", "show", randomUUID()], { env })).code, 5)
  })
})

describe("the lock of an entry", () => {
  it("lets one in at a time", async () => {
    const folder = machine().home
    let inside = 0
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () =>
        codeOf(() =>
          withLock(folder, "one", async () => {
            inside++
            assert.strictEqual(inside, 1)
            await new Promise((resolve) => setImmediate(resolve))
            inside--
          })
        )
      )
    )
    assert.isEmpty(outcomes.filter((outcome) => outcome !== "done" && outcome !== "LOCKED"))
    assert.isEmpty(readdirSync(folder))
  })

  it("outlives no dead process", async () => {
    const folder = machine().home
    // The largest id that a process can have, and one that is used again by a process that began at another time.
    writeFileSync(join(folder, "one.lock.1"), JSON.stringify({ pid: 4_194_304, startedAt: null }))
    writeFileSync(join(folder, "one.lock.2"), JSON.stringify({ pid: process.pid, startedAt: "1" }))
    assert.strictEqual(await codeOf(() => withLock(folder, "one", () => Promise.resolve())), "done")
    writeFileSync(join(folder, "one.lock.3"), JSON.stringify({ pid: process.pid, startedAt: null }))
    assert.strictEqual(await codeOf(() => withLock(folder, "one", () => Promise.resolve())), "LOCKED")
  })

  it("keeps processes apart, though some of them are killed", async () => {
    const folder = machine().home
    const counter = join(folder, "counter")
    writeFileSync(counter, "0")
    const lock = fileURLToPath(new URL("../../src/file/FileLock.ts", import.meta.url))
    // Reads and writes with a pause in between: two at once would lose a count.
    const script = `
      import { readFileSync, writeFileSync } from "node:fs"
      import { setTimeout } from "node:timers/promises"
      import { withLock } from ${JSON.stringify(lock)}
      for (let done = 0; done < Number(process.argv[1]); )
        await withLock(${JSON.stringify(folder)}, "one", async () => {
          const count = Number(readFileSync(${JSON.stringify(counter)}, "utf8"))
          await setTimeout(1)
          if (process.argv[2] === "dies") process.kill(process.pid, "SIGKILL")
          writeFileSync(${JSON.stringify(counter)}, String(count + 1))
          done++
        }).catch(async (error) => {
          if (error.parts?.code !== "LOCKED") throw error
          await setTimeout(1)
        })`
    const start = (...args: ReadonlyArray<string>) =>
      outcomeOf(
        spawn(process.execPath, ["--input-type=module", "-e", script, ...args], { stdio: ["ignore", "pipe", "pipe"] })
      )
    const killed = await Promise.all([start("1", "dies"), start("1", "dies")])
    assert.deepStrictEqual(
      killed.map(({ code }) => code),
      [null, null]
    )
    const ended = await Promise.all([start("25"), start("25"), start("1", "dies"), start("25")])
    assert.deepStrictEqual(
      ended.map(({ code, stderr }) => `${code}${stderr}`),
      ["0", "0", "null", "0"]
    )
    assert.strictEqual(readFileSync(counter, "utf8"), "75")
  })
})

describe("budget commands", () => {
  it("set and show the limits", async () => {
    const env = { AGENTOS_HOME: program.folder() }
    const set = await program.run(["budget", "set", "--per-call", "0.5", "--per-day", "10", "--json"], { env })
    assert.strictEqual(set.code, 0, set.stderr)
    assert.deepStrictEqual(JSON.parse(set.stdout), {
      profile: "default",
      perCall: { amount: "0.50", asset: "USDT" },
      perDay: { amount: "10.00", asset: "USDT" },
      spentLastDay: { amount: "0.00", asset: "USDT" },
      leftToday: { amount: "10.00", asset: "USDT" }
    })
    assert.strictEqual((await program.run(["budget", "set", "--per-day", "much"], { env })).code, 3)
    await program.run(["budget", "set", "--per-call", "none"], { env })
    assert.include((await program.run(["budget", "show"], { env })).stdout, "no limit")
  })
})
