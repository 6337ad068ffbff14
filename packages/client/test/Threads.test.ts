import { AgentOs, AgentOsError } from "@agentos/client"
import { describe, expect, it } from "vitest"
import { BASE_URL, success } from "./Scripted.ts"

/** Returns an agent whose requests are recorded, and answered by path. */
const scripted = async (answer: (path: string, query: URLSearchParams) => object) => {
  const requests: Array<readonly [path: string, query: string, body: unknown]> = []
  const agent = await AgentOs.connect(BASE_URL, {
    tokens: { get: () => "at_v1_token", set: () => undefined },
    fetch: async (url, init) => {
      const { pathname, searchParams } = new URL(url)
      const path = pathname.replace("/api/v1/email/", "")
      requests.push([path, String(searchParams), typeof init?.body === "string" ? JSON.parse(init.body) : undefined])
      return success(answer(path, searchParams))
    }
  })
  return { agent, requests }
}

describe("threads", () => {
  it("are read page by page", async () => {
    const { agent, requests } = await scripted((path, query) => {
      if (path === "mailboxes/query") return { items: [{ mailboxId: "box" }] }
      const page = Number(query.get("cursor") ?? 1)
      return { items: [{ threadId: `thread ${page}` }], nextCursor: page < 3 ? String(page + 1) : null }
    })
    const [mailbox] = await agent.mailboxes.list()
    const ids = []
    for await (const { threadId } of mailbox!.threads({ label: "invoice", unread: true })) ids.push(threadId)
    expect(ids).toEqual(["thread 1", "thread 2", "thread 3"])
    for (const [index, [path, query]] of requests.slice(1).entries()) {
      expect(path).toBe("threads/query")
      expect(Object.fromEntries(new URLSearchParams(query))).toEqual({
        mailboxId: "box",
        label: "invoice",
        unread: "true",
        limit: "100",
        ...(index === 0 ? {} : { cursor: String(index + 1) })
      })
    }
    expect(requests).toHaveLength(4)
  })

  it("are returned with a page of their messages, and refused as a list", async () => {
    const single = { thread: { threadId: "one" }, messages: [{ messageId: "one" }], nextCursor: "next" }
    const { agent, requests } = await scripted((_, query) =>
      query.get("threadId") === "one" ? single : { items: [], nextCursor: null }
    )
    expect(await agent.mailboxes.thread("one", { limit: 1 })).toEqual(single)
    expect(requests.at(-1)?.[1]).toContain("limit=1")
    const error = await agent.mailboxes.thread("two").catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AgentOsError)
    expect(error).toMatchObject({ code: "UNEXPECTED_ANSWER", message: "queryThreads returned another shape." })
  })
})

describe("a mail", () => {
  it("is labeled, and marked as read or unread", async () => {
    const message = { messageId: "one", sender: { address: "bob@example.com", name: null }, subject: "s" }
    const { agent, requests } = await scripted((path) => (path === "messages/update" ? { items: [] } : { message }))
    const mail = await agent.mailboxes.message("one")
    await mail.mark({ addLabels: ["a"], removeLabels: ["b"] })
    await mail.markRead()
    await mail.markUnread()
    expect(requests.slice(1)).toEqual(
      [{ addLabels: ["a"], removeLabels: ["b"] }, { unread: false }, { unread: true }].map((change) => [
        "messages/update",
        "",
        { ...change, messageIds: ["one"] }
      ])
    )
  })
})
