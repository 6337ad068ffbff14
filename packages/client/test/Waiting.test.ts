import { AgentOs } from "@agentos/client"
import { describe, expect, it } from "vitest"
import { BASE_URL, success, TestClock } from "./Scripted.ts"

interface Stored {
  /** Ids grow in the order in which mails are stored. */
  readonly id: number
  readonly receivedAt: string
}

const idOf = (id: number): string => `019ab1c0-0000-7000-8000-${String(id).padStart(12, "0")}`

const PAGE_MAX = 100

/** Returns the mailbox of a server with these mails, which lists them as the service does: by time, newest first. */
const mailboxWith = async (mails: ReadonlyArray<Stored>) => {
  const clock = new TestClock()
  const recordOf = ({ id, receivedAt }: Stored) => ({
    messageId: idOf(id),
    subject: `Mail ${id}`,
    sender: { address: "bob@example.com", name: null },
    createdAt: receivedAt,
    text: null,
    html: null
  })
  const answer = (query: URLSearchParams): object => {
    const one = mails.find(({ id }) => idOf(id) === query.get("messageId"))
    if (one !== undefined) return { message: recordOf(one) }
    const begin = Number(query.get("cursor") ?? 0)
    const found = mails
      .filter(({ receivedAt }) => receivedAt >= (query.get("after") ?? ""))
      .toSorted((left, right) => (left.receivedAt < right.receivedAt ? 1 : -1))
    const end = begin + PAGE_MAX
    return { items: found.slice(begin, end).map(recordOf), nextCursor: end < found.length ? String(end) : null }
  }
  const agent = await AgentOs.connect(BASE_URL, {
    clock,
    tokens: { get: () => "at_v1_token", set: () => undefined },
    fetch: async (url) => {
      const { pathname, searchParams } = new URL(url)
      return success(pathname.endsWith("/mailboxes/query") ? { items: [{ mailboxId: "box" }] } : answer(searchParams))
    }
  })
  const [mailbox] = await agent.mailboxes.list()
  if (mailbox === undefined) throw new Error("no mailbox")
  return { agent, mailbox, now: clock.now() }
}

const at = (millis: number): string => new Date(millis).toISOString()

describe("waiting for mail", () => {
  it("ends although the pages of the server do not", async () => {
    const clock = new TestClock()
    let pages = 0
    const agent = await AgentOs.connect(BASE_URL, {
      clock,
      tokens: { get: () => "at_v1_token", set: () => undefined },
      fetch: async (url) => {
        if (url.includes("/mailboxes/query")) return success({ items: [{ mailboxId: "box" }] })
        if (++pages > 1_000) throw new Error("too many pages")
        await clock.sleep(1_000)
        return success({ items: [], nextCursor: "next" })
      }
    })
    const [mailbox] = await agent.mailboxes.list()
    await expect(mailbox?.waitForMail({ timeoutSeconds: 5 })).rejects.toMatchObject({ code: "TIMEOUT" })
    expect(pages).toBeLessThan(40)
  })

  it("returns each mail once, in the order in which they were stored, also one that arrived before another", async () => {
    const start = new TestClock().now()
    // The first to arrive was large, and was stored last.
    const { mailbox } = await mailboxWith([
      { id: 3, receivedAt: at(start - 9_000) },
      { id: 1, receivedAt: at(start - 8_000) },
      { id: 2, receivedAt: at(start - 7_000) }
    ])
    const first = await mailbox.waitForMail()
    const second = await mailbox.waitForMail({ after: first })
    const third = await mailbox.waitForMail({ after: second })
    expect([first, second, third].map(({ id }) => id)).toEqual([1, 2, 3].map(idOf))
    await expect(mailbox.waitForMail({ after: third, timeoutSeconds: 2 })).rejects.toMatchObject({ code: "TIMEOUT" })
  })

  it("returns the next of more mails than a page has", async () => {
    const start = new TestClock().now()
    const many = Array.from({ length: 250 }, (_, index) => ({ id: index + 1, receivedAt: at(start - 10_000 + index) }))
    const { agent, mailbox } = await mailboxWith(many)
    const handled = await agent.mailboxes.message(idOf(20))
    expect((await mailbox.waitForMail({ after: handled })).id).toBe(idOf(21))
    expect((await mailbox.waitForMail()).id).toBe(idOf(1))
  })
})
