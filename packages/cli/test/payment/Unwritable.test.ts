import type { JournalState } from "@agentos/client"
import { Failure, Output } from "@agentos/node/command-line"
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import type { Host, PaymentStep } from "../../src/host/Host.ts"
import { run } from "../../src/Program.ts"
import { addEntry } from "../../src/payment/Journal.ts"
import { resume } from "../../src/payment/Sending.ts"
import { errorReply, useApiDouble } from "../support/ApiDouble.ts"
import { challenge, KEY } from "../support/PaidAnswers.ts"
import { entry, machine, NOW, removeMachines } from "../support/Machine.ts"

const api = useApiDouble()
afterAll(removeMachines)

/** Buys a mailbox with a hook at each step and returns the exit code and the error. */
const buy = async (atStep: (step: PaymentStep, host: Host & { readonly home: string }) => void) => {
  const before = machine()
  let said = ""
  const host = {
    ...before,
    argv: ["mailbox", "create", "ada", "--yes", "--max-amount", "1", "--json", "--quiet"],
    env: { ...before.env, AGENTOS_BASE_URL: api.url(), AGENTOS_PRIVATE_KEY: KEY, AGENTOS_RPC_URL: `${api.url()}/rpc` },
    stderr: { ...before.stderr, write: (data: string | Uint8Array) => void (said += Buffer.from(data).toString()) },
    atStep: (step: PaymentStep) => Promise.resolve(atStep(step, before))
  }
  api.on("POST /rpc", errorReply(404, "RESOURCE_NOT_FOUND"))
  api.on("POST /api/v1/email/mailboxes", challenge())
  const exit = await run(host)
  return { exit, error: JSON.parse(said).error as Record<string, unknown>, home: before.home }
}

/** Puts a file in the place of the journal folder, so that not even root can write to it. */
const blockJournal = (home: string): void => {
  if (existsSync(join(home, "journal"))) renameSync(join(home, "journal"), join(home, "away"))
  writeFileSync(join(home, "journal"), "")
}

const signed = () => api.seen.filter(({ headers }) => "payment-signature" in headers)

describe("a payment with an unwritable journal", () => {
  it("costs nothing and names the file", async () => {
    const { error, exit, home } = await buy((step, host) => {
      if (step === "agreed") blockJournal(host.home)
    })
    assert.strictEqual(exit, 1)
    assert.deepInclude(error, { code: "FAILED", paymentState: "none" })
    assert.include(String(error["message"]), `Cannot write ${join(home, "journal")} (`)
    assert.isEmpty(signed())
  })

  it("stays open after it is signed and in the journal, without being sent", async () => {
    const { error, exit, home } = await buy((step, host) => {
      if (step === "written") blockJournal(host.home)
    })
    assert.strictEqual(exit, 8)
    const [id] = readdirSync(join(home, "away")).flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -5)] : []))
    assert.deepInclude(error, { code: "OUTCOME_UNKNOWN", next: [`agentctl payments resume ${id}`] })
    assert.include(String(error["message"]), "was not sent. It stays open: do not pay again")
    assert.isEmpty(signed())
  })

  it("is not sent if the journal cannot record it", async () => {
    const states: ReadonlyArray<readonly [JournalState, string]> = [
      [{ tag: "prepared" }, "was not sent. It stays open: do not pay again"],
      [{ tag: "sent", attempts: 1 }, "may have been charged: do not pay again"]
    ]
    for (const [state, says] of states) {
      const written = entry({ state, baseUrl: api.url() })
      const before = machine()
      await addEntry(before, written)
      const lock = join(before.home, "journal", `${written.id}.lock`)
      const now = () => {
        if (existsSync(lock)) blockJournal(before.home)
        return NOW
      }
      const host = { ...before, now }
      const context = {
        host,
        output: new Output(host, { json: false, quiet: true, color: false }),
        globals: {
          help: false,
          json: false,
          profile: undefined,
          "base-url": undefined,
          quiet: true,
          "no-color": true,
          version: false
        }
      }
      const failure = await resume(context, written.id).catch((error: unknown) => error)
      assert.instanceOf(failure, Failure)
      assert.strictEqual(failure.exit, 8)
      assert.include(failure.message, says)
    }
    assert.isEmpty(signed())
  })
})
