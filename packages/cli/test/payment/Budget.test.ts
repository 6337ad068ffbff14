import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { changeBudget, reserve, spentLastDay } from "../../src/payment/Budget.ts"
import { addEntry, readEntries } from "../../src/payment/Journal.ts"
import { type StoredEntry, timeOfPayment } from "../../src/payment/JournalFile.ts"
import {
  answered,
  codeOf,
  entry,
  HOUR,
  machine,
  NOW,
  paymentIdAt as newPaymentId,
  removeMachines
} from "../support/Machine.ts"

afterAll(removeMachines)

describe("daily budget", () => {
  it("sums the last 24 hours of a profile, including unknown outcomes", async () => {
    const host = machine()
    const entries = [
      entry({ createdAt: NOW - 23 * HOUR }),
      entry({ createdAt: NOW - 25 * HOUR }),
      entry({ profile: "other" }),
      entry({ state: answered("none", 402) }),
      entry({ state: answered("unknown", 409) })
    ]
    for (const one of entries) await addEntry(host, one)
    assert.strictEqual(await spentLastDay(host, "default"), 750_000n)
  })

  it("counts each signature that may have left the machine, whatever the server says about it", async () => {
    const host = machine()
    const expired = Buffer.from(JSON.stringify({ payload: { authorization: { validBefore: "1" } } })).toString("base64")
    await addEntry(host, entry({ state: answered("none", 402), paymentSignature: expired }))
    await addEntry(host, entry({ state: answered("refunded", 502), paymentSignature: expired }))
    await addEntry(host, entry({ state: { tag: "given-up" }, paymentSignature: expired }))
    assert.strictEqual(await spentLastDay(host, "default"), 500_000n)
  })

  it("reads only the journal files of the day, and all of them", async () => {
    const host = machine()
    const at = (createdAt: number) => entry({ id: newPaymentId(createdAt), createdAt })
    const [before, within] = [at(NOW - 24 * HOUR - 1), at(NOW - 23 * HOUR)]
    assert.strictEqual(timeOfPayment(within.id), NOW - 23 * HOUR)
    await addEntry(host, before)
    await addEntry(host, within)
    const broken = ({ id }: StoredEntry) =>
      writeFileSync(join(host.home, "journal", `${id}.json`), "{", { mode: 0o600 })
    broken(before)
    assert.strictEqual(await spentLastDay(host, "default"), 250_000n)
    // Other readers read all files.
    assert.strictEqual(await codeOf(() => readEntries(host)), "CONFIGURATION")
    broken(within)
    assert.strictEqual(await codeOf(() => spentLastDay(host, "default")), "CONFIGURATION")
  })

  it("is not exceeded by concurrent payments", async () => {
    const host = machine()
    await changeBudget(host, "default", () => ({ perCall: 300_000n, perDay: 1_000_000n }))
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => codeOf(() => reserve(host, entry()))))
    assert.deepStrictEqual(
      [outcomes.filter((code) => code === "done").length, outcomes.filter((code) => code === "OVER_BUDGET").length],
      [4, 4]
    )
    assert.lengthOf(await readEntries(host), 4)
    const costly = entry({ profile: "default", amount: "300001" })
    assert.strictEqual(await codeOf(() => reserve(host, costly)), "OVER_BUDGET")
  })
})
