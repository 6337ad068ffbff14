import { AgentOs } from "@agentos/client"
import { describe, expect, it } from "vitest"
import { BASE_URL, success, TestClock } from "./Scripted.ts"

interface Stored {
  /** Ids grow in the order in which mails are stored. */
  readonly id: number
  readonly receivedAt: string
  readonly from?: string
  readonly text?: string
  readonly isVerified?: boolean
}

const idOf = (id: number): string => `019ab1c0-0000-7000-8000-${String(id).padStart(12, "0")}`

const PAGE_MAX = 100

/** Returns the mailbox of a server with these mails, which lists them as the service does: by time, newest first. */
const mailboxWith = async (mails: ReadonlyArray<Stored>, skewMillis = 0) => {
  const clock = new TestClock()
  const recordOf = ({ from = "bob@example.com", id, isVerified = true, receivedAt, text = "" }: Stored) => ({
    messageId: idOf(id),
    subject: `Mail ${id}`,
    sender: { address: from, name: null },
    authentication: { dmarc: isVerified ? "pass" : "fail" },
    createdAt: receivedAt,
    text,
    html: null,
    // The server reads them.
    oneTimeCode: /code is (\d+)/.exec(text)?.[1] ?? null,
    confirmationLink: /https:\S+/.exec(text)?.[0] ?? null
  })
  const answer = (query: URLSearchParams): object => {
    const one = mails.find(({ id }) => idOf(id) === query.get("messageId"))
    if (one !== undefined) return { message: recordOf(one) }
    const begin = Number(query.get("cursor") ?? 0)
    const found = mails
      .filter(
        ({ receivedAt }) =>
          receivedAt >= (query.get("after") ?? "") && Date.parse(receivedAt) <= clock.now() + skewMillis
      )
      .filter(({ from }) => from === (query.get("from") ?? from))
      .toSorted((left, right) => (left.receivedAt < right.receivedAt ? 1 : -1))
    const end = begin + PAGE_MAX
    return { items: found.slice(begin, end).map(recordOf), nextCursor: end < found.length ? String(end) : null }
  }
  const agent = await AgentOs.connect(BASE_URL, {
    clock,
    tokens: { get: () => "at_v1_token", set: () => undefined },
    fetch: async (url) => {
      const { pathname, searchParams } = new URL(url)
      const data = pathname.endsWith("/mailboxes/query") ? { items: [{ mailboxId: "box" }] } : answer(searchParams)
      const response = success(data)
      if (skewMillis !== 0) response.headers.set("date", new Date(clock.now() + skewMillis).toUTCString())
      return response
    }
  })
  const [mailbox] = await agent.mailboxes.list()
  if (mailbox === undefined) throw new Error("no mailbox")
  return { agent, clock, mailbox }
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

describe("waiting", () => {
  const WAIT = { timeoutSeconds: 2 }

  it.each([2_000, 2_500, 400])("looks a last time at its end, which is after %i ms", async (millis) => {
    const start = new TestClock().now()
    const { clock, mailbox } = await mailboxWith([{ id: 1, receivedAt: at(start + millis) }])
    expect((await mailbox.waitForMail({ timeoutSeconds: millis / 1_000 })).id).toBe(idOf(1))
    expect(clock.now() - start).toBe(millis)
    const inVain = mailbox.waitForMail({ from: "nowhere@example.com", timeoutSeconds: millis / 1_000 })
    await expect(inVain).rejects.toMatchObject({ code: "TIMEOUT" })
    expect(clock.now() - start).toBe(2 * millis)
  })

  it("for a code returns the newest one, each once, and none that is older", async () => {
    const start = new TestClock().now()
    const codeMail = (id: number, millis: number, text: string, from = "shop@example.com", isVerified = true) => ({
      id,
      receivedAt: at(start + millis),
      from,
      isVerified,
      text
    })
    const { agent, mailbox } = await mailboxWith([
      codeMail(1, -30_000, "Your code is 111111."),
      codeMail(2, -25_000, "Your code is 222222.", "bank@example.com"),
      codeMail(3, -20_000, "Your code is 333333."),
      codeMail(4, -10_000, "Your code is 666666.", "shop@example.com", false),
      codeMail(5, -5_000, "Your order is on its way."),
      codeMail(6, 1_000, "Your code is 444444.")
    ])
    const from = "shop@example.com"
    expect(await mailbox.waitForCode({ ...WAIT, from })).toEqual({
      code: "333333",
      link: null,
      messageId: idOf(3),
      domain: "example.com",
      verified: true
    })
    // Not 111111, which the sender has replaced.
    expect(await mailbox.waitForCode({ ...WAIT, from })).toMatchObject({ code: "444444" })
    await expect(mailbox.waitForCode({ ...WAIT, from })).rejects.toMatchObject({ code: "TIMEOUT" })
    expect(await mailbox.waitForCode(WAIT)).toMatchObject({ code: "222222" })
    // The same for each object of the mailbox.
    const [another] = await agent.mailboxes.list()
    await expect(another?.waitForCode({ ...WAIT, from, unverified: true })).rejects.toMatchObject({ code: "TIMEOUT" })
  })

  it("for a link returns the newest one of mail with or without a code, each once, and not instead of a code", async () => {
    const start = new TestClock().now()
    const mailOf = (id: number, text: string, isVerified = true) => ({
      id,
      receivedAt: at(start - 10_000 + id),
      isVerified,
      text
    })
    const { mailbox } = await mailboxWith([
      mailOf(1, "Confirm: https://shop.example/1"),
      mailOf(2, "Your code is 222222, or open https://shop.example/2"),
      mailOf(3, "Confirm: https://shop.example/3"),
      mailOf(4, "Confirm: https://evil.example/4", false),
      mailOf(5, "Nothing.")
    ])
    expect(await mailbox.waitForCode(WAIT)).toEqual({
      code: "222222",
      link: "https://shop.example/2",
      messageId: idOf(2),
      domain: "example.com",
      verified: true
    })
    expect(await mailbox.waitForLink(WAIT)).toEqual({
      code: null,
      link: "https://shop.example/3",
      messageId: idOf(3),
      domain: "example.com",
      verified: true
    })
    await expect(mailbox.waitForLink(WAIT)).rejects.toMatchObject({ code: "TIMEOUT" })
    await expect(mailbox.waitForCode(WAIT)).rejects.toMatchObject({ code: "TIMEOUT" })
    expect(await mailbox.waitForLink({ ...WAIT, unverified: true })).toMatchObject({
      messageId: idOf(4),
      verified: false
    })
  })

  it("looks back by the clock of the server, which dates mail", async () => {
    const start = new TestClock().now()
    for (const skewMillis of [-3_600_000, 3_600_000]) {
      const { mailbox } = await mailboxWith(
        [
          { id: 1, receivedAt: at(start + skewMillis - 90_000), text: "Your code is 111111." },
          { id: 2, receivedAt: at(start + skewMillis - 30_000), text: "Your code is 222222." }
        ],
        skewMillis
      )
      expect(await mailbox.waitForCode(WAIT)).toMatchObject({ code: "222222" })
      const old = mailbox.waitForMail({ ...WAIT, from: "bob@example.com", subject: "Mail 1" })
      await expect(old).rejects.toMatchObject({ code: "TIMEOUT" })
    }
  })

  it("twice at once for codes returns different ones", async () => {
    const start = new TestClock().now()
    const mailOf = (id: number) => ({
      id,
      receivedAt: at(start + id * 1_000),
      text: `Your code is ${id}${id}${id}${id}.`
    })
    const { mailbox } = await mailboxWith([1, 4].map(mailOf))
    const both = await Promise.all([mailbox.waitForCode(), mailbox.waitForCode()])
    expect(both.map(({ code }) => code).toSorted()).toEqual(["1111", "4444"])
  })
})
