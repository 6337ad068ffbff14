import { isOpen, type JournalState, mayHaveCharged } from "@agentos/client"
import { randomUUID } from "node:crypto"
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { addEntry, readEntries, readEntry } from "../../src/payment/Journal.ts"
import { JOURNAL_TRANSITIONS } from "../../src/payment/JournalFile.ts"
import { withLock } from "../../src/file/FileLock.ts"
import {
  answered,
  codeOf,
  entry,
  HOUR,
  machine,
  NOW,
  paymentIdAt as newPaymentId,
  removeMachines,
  SIGNATURE,
  withEntry
} from "../support/Machine.ts"
import { useProgram } from "../support/Program.ts"

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

  it("writes files of version 1, and keeps fields that it does not know", async () => {
    const host = machine()
    const { amount, asset, network, operationId: _derived, payTo, validBefore: _signed, ...others } = entry()
    const written = { version: 1, ...others, quote: { amount, asset, network, payTo } }
    await addEntry(host, entry(others))
    const path = join(host.home, "journal", `${others.id}.json`)
    const read = (): unknown => JSON.parse(readFileSync(path, "utf8"))
    assert.deepStrictEqual(read(), written)
    writeFileSync(path, JSON.stringify({ ...written, note: "of a newer version" }), { mode: 0o600 })
    const state: JournalState = { tag: "sent", attempts: 1 }
    await withEntry(host, others.id, async (held) => void (await held.advance(state)))
    assert.deepStrictEqual(read(), { ...written, note: "of a newer version", state })
  })

  it("reads until when a signed payment is valid, by EIP-3009 and by Permit2", async () => {
    const header = (payload: object) => Buffer.from(JSON.stringify({ payload })).toString("base64")
    for (const payload of [
      { authorization: { validBefore: "1769860900" } },
      { permit2Authorization: { deadline: "1769860900" } }
    ]) {
      const host = machine()
      await addEntry(host, entry({ paymentSignature: header(payload) }))
      assert.deepInclude((await readEntries(host))[0], { validBefore: 1_769_860_900 })
    }
  })

  it("stores a large body in a file of its own, which lists do not read", async () => {
    const host = machine()
    const written = entry({ body: JSON.stringify({ text: "ü\n".repeat(5_000_000) }) })
    await addEntry(host, written)
    await withEntry(host, written.id, async (held) => {
      assert.deepStrictEqual(held.current(), written)
      await held.advance({ tag: "sent", attempts: 1 })
    })
    assert.strictEqual((await readEntry(host, written.id)).body, written.body)
    const path = join(host.home, "journal", written.id)
    assert.isBelow(statSync(`${path}.json`).size, 2_000)
    assert.strictEqual(statSync(`${path}.body`).mode & 0o777, 0o600)
    const [listed] = await readEntries(host)
    assert.deepStrictEqual([listed!.id, typeof listed!.body], [written.id, "object"])
    for (const damage of [() => writeFileSync(`${path}.body`, "{}"), () => rmSync(`${path}.body`)]) {
      damage()
      assert.strictEqual(await codeOf(() => readEntry(host, written.id)), "CONFIGURATION")
      assert.lengthOf(await readEntries(host), 1)
    }
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
    const of = (state: JournalState) => [isOpen(entry({ state })), mayHaveCharged(entry({ state }))]
    assert.deepStrictEqual(of({ tag: "prepared" }), [true, true])
    assert.deepStrictEqual(of({ tag: "sent", attempts: 2 }), [true, true])
    assert.deepStrictEqual(of(answered("unknown", 409)), [true, true])
    assert.deepStrictEqual(of(answered("settled")), [false, true])
    assert.deepStrictEqual(of(answered("settled", 502)), [true, true])
    assert.deepStrictEqual(of(answered("none", 409)), [false, true])
    assert.deepStrictEqual(of(answered("refunded", 502)), [false, true])
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

// packages/node/test/file-lock tests the lock itself.
describe("withLock", () => {
  it("runs one caller at a time and rejects the others with LOCKED", async () => {
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
