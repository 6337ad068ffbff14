import { assert, afterAll, beforeAll, describe, it, vi } from "vitest"
import { useApiDouble } from "./support/ApiDouble.ts"
import { play, removeFolders } from "./support/InProcess.ts"
import { call, ID, mailbox, message, phoneNumber, event } from "./support/Samples.ts"

const api = useApiDouble()
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

const OTHER = "0190f3c2-1111-7000-8000-0000000000b2"
const bob = { ...mailbox, mailboxId: OTHER, address: "bob@agents.test", localPart: "bob" }
const page = (items: ReadonlyArray<unknown>) => [{ data: { items, nextCursor: null } }]
const MESSAGES = "GET /api/v1/email/messages/query"

/** Runs a command and returns its exit code, its text, and the last request. */
const seen = async (args: ReadonlyArray<string>, server: Parameters<typeof play>[1]["server"]) => {
  const { exit, text } = await play(api, { args, exit: 0, ...(server && { server }) }, "program")
  return { exit, text, url: api.seen.at(-1)!.url, body: api.seen.at(-1)!.body }
}

describe("names of resources", () => {
  const mailboxes = { "GET /api/v1/email/mailboxes/query": [{ data: { items: [mailbox, bob] } }], [MESSAGES]: page([]) }

  it.each([
    ["ada", ID],
    ["ADA", ID],
    ["bob@agents.test", OTHER],
    ["00b2", OTHER],
    ["000000b2", OTHER],
    ["0190f3c2-1", OTHER],
    [OTHER, OTHER]
  ])("finds the mailbox %s", async (text, id) => {
    const { exit, url } = await seen(["mail", "list", "--mailbox", text], mailboxes)
    assert.strictEqual(exit, 0)
    assert.include(url, `mailboxId=${id}`)
  })

  it("lists the candidates of an ambiguous name, and asks for nothing else", async () => {
    const { exit, text } = await seen(["mail", "list", "--mailbox", "0190f3c2"], mailboxes)
    assert.strictEqual(exit, 3)
    assert.include(
      text,
      `0190f3c2 names 2 mailboxes: ${ID} (ada@agents.test), ${OTHER} (bob@agents.test). Pass one of the ids.`
    )
  })

  it.each(["carol", "carol@agents.test", "ffff"])("does not find the mailbox %s", async (text) => {
    const { exit, text: said } = await seen(["mail", "list", "--mailbox", text], mailboxes)
    assert.strictEqual(exit, 5)
    assert.include(said, `Mailbox ${text} not found among your mailboxes.`)
  })

  it.each(["+14155550100", "14155550100", "+1 (415) 555-0100", "Ada", "0001", ID])(
    "finds the number %s",
    async (text) => {
      const server = {
        "GET /api/v1/phone/numbers": [{ data: { items: [phoneNumber] } }],
        "GET /api/v1/phone/calls": page([])
      }
      const { exit, url, text: said } = await seen(["call", "list", "--number", text], server)
      assert.strictEqual(exit, 0, said)
      assert.include(url, `phoneNumberId=${phoneNumber.phoneNumberId}`)
    }
  )

  const sent = { ...message, messageId: OTHER, threadId: OTHER, direction: "outbound", subject: "Mine" }
  it.each([
    ["latest", OTHER],
    ["00b2", OTHER],
    ["00000001", ID]
  ])("finds the message %s", async (text, id) => {
    const server = { [MESSAGES]: [...page([sent, message]), { data: { message } }] }
    const { exit, url } = await seen(["mail", "read", text], server)
    assert.strictEqual(exit, 0)
    assert.include(url, `messageId=${id}`)
  })

  it("finds the thread of the newest message", async () => {
    const server = { [MESSAGES]: page([sent]), "GET /api/v1/email/threads/query": page([]) }
    const { exit, text, url } = await seen(["mail", "thread", "latest"], server)
    assert.strictEqual(exit, 0, text)
    assert.include(url, `threadId=${OTHER}`)
  })

  it("asks for the newest received message for a raw one, and fails without one", async () => {
    const { exit, text, url } = await seen(["mail", "raw", "latest"], { [MESSAGES]: page([]) })
    assert.strictEqual(exit, 5)
    assert.include(url, "direction=inbound&limit=1")
    assert.include(text, "Message latest not found among your messages.")
  })

  it("rejects text that cannot be a part of an id", async () => {
    const { exit, text } = await seen(["mail", "read", "hello"], {})
    assert.strictEqual(exit, 3)
    assert.include(
      text,
      '"hello" names no message. Pass its id, at least 4 characters of its beginning or end, or latest.'
    )
  })

  it("finds the latest call", async () => {
    const server = { "GET /api/v1/phone/calls": page([call]), [`GET /api/v1/phone/calls/${ID}`]: [{ data: { call } }] }
    const { exit, url } = await seen(["call", "show", "latest"], server)
    assert.strictEqual(exit, 0)
    assert.include(url, ID)
  })

  it("finds the latest event, which the server lists last", async () => {
    const server = {
      "POST /api/v1/events/list": page([{ ...event, eventId: OTHER }, event]),
      "POST /api/v1/events/get": [{ data: { event } }]
    }
    const latest = await seen(["events", "get", "latest"], server)
    assert.deepStrictEqual([latest.exit, JSON.parse(latest.body)], [0, { eventId: event.eventId }])
    const byPart = await seen(["events", "get", "00b2"], server)
    assert.deepStrictEqual([byPart.exit, JSON.parse(byPart.body)], [0, { eventId: OTHER }])
  })

  it("finds payments in the journal", async () => {
    const { exit, text } = await seen(["payments", "show", "latest"], {}).catch((error: unknown) => ({
      exit: -1,
      text: String(error)
    }))
    assert.strictEqual(exit, 5, text)
    assert.include(text, "Payment latest not found among your payments.")
  })
})
