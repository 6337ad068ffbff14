import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { useApiDouble } from "../support/ApiDouble.ts"
import { play, removeFolders } from "../support/InProcess.ts"
import { paid } from "../support/PaidAnswers.ts"
import { ADDRESS, ID, mailbox, message, OPERATION, selling } from "../support/Samples.ts"

const api = useApiDouble()
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

describe("mail list", () => {
  const list = async (...more: ReadonlyArray<string>) => {
    api.seen.length = 0
    const answer = { data: { items: [message], nextCursor: "01Next" } }
    const server = { "GET /api/v1/email/messages/query": [answer] }
    return play(api, { args: ["mail", "list", "--limit", "1", ...more], exit: 0, server }, "program")
  }

  it("passes its filters on, and repeats their times with the cursor, which belongs to them", async () => {
    const filters = ["--thread", ID, "--direction", "inbound", "--from", "bob@outside.example", "-S", "invoice 2026"]
    const { text } = await list(...filters, "--since", "1h", "--until", "2026-01-31T13:00:00+01:00")
    const [since, until] = ["2026-01-31T11:00:30.000Z", "2026-01-31T12:00:00.000Z"]
    const query = new URL(api.seen[0]!.url, api.url()).searchParams
    assert.deepStrictEqual(Object.fromEntries(query), {
      threadId: ID,
      direction: "inbound",
      from: "bob@outside.example",
      after: since,
      before: until,
      q: "invoice 2026",
      limit: "1"
    })
    assert.include(text, `--limit 2, or --since ${since} --until ${until} --cursor 01Next`)
  })

  it("rejects contradictory filters before any request", async () => {
    for (const [flags, problem] of [
      [["--since", "1h", "--until", "2h"], "--since must be earlier than --until"],
      [["--search", "…"], "--search must contain a letter or a digit"],
      [["--direction", "up"], "--direction"]
    ] as const) {
      const { exit, text } = await list(...flags)
      assert.deepStrictEqual([exit, api.seen.length], [3, 0])
      assert.include(text, problem)
    }
  })
})

describe("the sender policy of a mailbox", () => {
  const listed = { ...mailbox, senderPolicy: { mode: "listed", allow: ["bob@example.com"], block: ["example.org"] } }

  /** Runs a command that pays, and returns the policy that it sends. */
  const policySentBy = async (args: ReadonlyArray<string>, current: object = listed) => {
    api.seen.length = 0
    const path = args[1] === "create" ? "email/mailboxes" : "email/mailboxes/update"
    const server = {
      "GET /api/v1/email/mailboxes/query": [{ data: { items: [current] } }],
      ...selling(path, paid({ mailbox: current, operationId: OPERATION }))
    }
    const scene = { args: [...args, "--yes", "--max-amount", "1"], exit: 0, server }
    const { exit, text } = await play(api, scene, "program")
    const body = api.seen.filter(({ url }) => url.endsWith(path)).at(-1)?.body ?? "{}"
    return { exit, text, policy: (JSON.parse(body) as { readonly senderPolicy?: object }).senderPolicy }
  }
  const update = (...flags: ReadonlyArray<string>) => policySentBy(["mailbox", "update", ADDRESS, ...flags])

  it("is set at the purchase, and shown", async () => {
    const create = ["mailbox", "create", "ada", "--sender-policy", "listed", "--allow", "a@b.example"]
    const { policy, text } = await policySentBy([...create, "--allow", "example.org"])
    assert.deepStrictEqual(policy, { mode: "listed", allow: ["a@b.example", "example.org"], block: [] })
    assert.include(text, "listed, allow bob@example.com, block example.org")
    assert.isUndefined((await policySentBy(["mailbox", "create", "ada"])).policy)
  })

  it("keeps the parts that an update leaves out", async () => {
    const { allow, block, mode } = listed.senderPolicy
    assert.deepStrictEqual((await update("--allow", "c@d.example")).policy, { mode, allow: ["c@d.example"], block })
    assert.deepStrictEqual((await update("--block", "")).policy, { mode, allow, block: [] })
    const authenticated = await update("--sender-policy", "authenticated")
    assert.deepStrictEqual(authenticated.policy, { mode: "authenticated", allow, block })
    assert.isUndefined((await update("--active", "true")).policy)
  })

  it("is rejected before payment if --allow had no effect", async () => {
    const { exit, policy, text } = await policySentBy(["mailbox", "create", "ada", "--allow", "a@b.example"])
    assert.deepStrictEqual([exit, policy], [3, undefined])
    assert.include(text, "--allow has no effect while mail from anyone is received.")
  })
})
