import { createTransport, type SendMailOptions } from "nodemailer"
import { describe, expect, it } from "vitest"
import { type Agent, freshName, type MailboxFields } from "../support/Agent.ts"
import { useSandbox } from "../support/useSandbox.ts"

const host = useSandbox()
const EMAIL = "/api/v1/email"

interface Message {
  readonly messageId: string
  readonly messageIdHeader: string
  readonly threadId: string
  readonly subject: string
  readonly labels: ReadonlyArray<string>
  readonly unread: boolean
}
interface Thread {
  readonly threadId: string
  readonly subject: string
}
interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly nextCursor: string | null
}
type Query = Readonly<Record<string, string | number | boolean>>

const newMailbox = async (wallet: 0 | 1 | 2 = 0) => {
  const agent = host.agent(wallet)
  return { agent, mailbox: await agent.createMailbox(freshName()) }
}

const deliver = (options: SendMailOptions) =>
  createTransport({
    host: host.sandbox.mail.host,
    port: host.sandbox.mail.port,
    requireTLS: true,
    tls: { rejectUnauthorized: false }
  }).sendMail({ from: "Bob <bob@outside.test>", text: "Hello", ...options })

const queryOf = (query: Query): string =>
  `?${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])).toString()}`

const get = async <Data>(agent: Agent, path: string, query: Query): Promise<Data> => {
  const { body, status } = await agent.send({ path: `${EMAIL}/${path}/query${queryOf(query)}` })
  expect(status).toBe(200)
  return body.data as unknown as Data
}

const messagesOf = (agent: Agent, query: Query) => get<Page<Message>>(agent, "messages", query)
const threadsOf = (agent: Agent, query: Query) => get<Page<Thread>>(agent, "threads", query)

/** Delivers a mail and waits until it is stored. */
const receive = async (agent: Agent, { address, mailboxId }: MailboxFields, options: SendMailOptions) => {
  const subject = `${String(options.subject)} ${freshName()}`
  await deliver({ to: address, ...options, subject })
  let received: Message | undefined
  await expect
    .poll(async () => (received = (await messagesOf(agent, { mailboxId, q: subject })).items[0]), { timeout: 60_000 })
    .toBeTruthy()
  return { ...received!, sentSubject: subject }
}

const update = (agent: Agent, body: Readonly<Record<string, unknown>>) =>
  agent.send({ path: `${EMAIL}/messages/update`, body })

const idsOf = (items: ReadonlyArray<{ readonly messageId: string }>) => items.map(({ messageId }) => messageId)

describe("threads", () => {
  it("are listed by their newest activity with counts, and one returns its messages oldest first", async () => {
    const { agent, mailbox } = await newMailbox()
    const { mailboxId } = mailbox
    const first = await receive(agent, mailbox, { subject: "Offer", cc: "Carol@outside.test" })
    const other = await receive(agent, mailbox, { subject: "Bill", attachments: [{ filename: "a.txt", content: "a" }] })
    expect((await threadsOf(agent, { mailboxId })).items.map(({ threadId }) => threadId)).toEqual([
      other.threadId,
      first.threadId
    ])
    const sent = await agent.pay({
      path: `${EMAIL}/messages/send`,
      body: { mailboxId, to: ["bob@outside.test"], subject: "Re: Offer", text: "How much?", inReplyTo: first.messageId }
    })
    const reply = sent.body.data["message"]! as Message
    expect(reply).toMatchObject({ threadId: first.threadId, labels: [], unread: false })
    const answer = await receive(agent, mailbox, {
      subject: "Re: Offer",
      inReplyTo: reply.messageIdHeader,
      text: "Ten."
    })
    expect(answer).toMatchObject({ threadId: first.threadId, unread: true })

    const { items, nextCursor } = await threadsOf(agent, { mailboxId, limit: 1 })
    const thread = {
      threadId: first.threadId,
      mailboxId,
      subject: first.sentSubject,
      participants: ["bob@outside.test", mailbox.address, "carol@outside.test"],
      messageCount: 3,
      unreadCount: 2,
      hasAttachments: false,
      labels: [],
      lastMessageId: answer.messageId,
      snippet: "Ten."
    }
    expect(items).toMatchObject([thread])
    const rest = await threadsOf(agent, { mailboxId, limit: 1, cursor: nextCursor! })
    expect(rest).toMatchObject({ items: [{ threadId: other.threadId, hasAttachments: true }], nextCursor: null })

    const single = { threadId: first.threadId, limit: 2 }
    const page = await get<{ thread: Thread; messages: ReadonlyArray<Message>; nextCursor: string }>(
      agent,
      "threads",
      single
    )
    expect(page.thread).toMatchObject(thread)
    expect(idsOf(page.messages)).toEqual([first.messageId, reply.messageId])
    const last = await get<typeof page>(agent, "threads", { ...single, cursor: page.nextCursor })
    expect(idsOf(last.messages)).toEqual([answer.messageId])
    expect(last.nextCursor).toBeNull()
  })

  it("of others are refused, and so are cursors and filters that do not belong together", async () => {
    const { agent, mailbox } = await newMailbox()
    const { agent: stranger } = await newMailbox(1)
    const { threadId } = await receive(agent, mailbox, { subject: "s" })
    const ask = async (caller: Agent, query: Query) => {
      const { body, status } = await caller.send({ path: `${EMAIL}/threads/query${queryOf(query)}` })
      return [status, body.error?.code]
    }
    expect(await ask(stranger, { threadId })).toEqual([403, "RESOURCE_NOT_OWNED"])
    expect(await ask(stranger, { mailboxId: mailbox.mailboxId })).toEqual([403, "RESOURCE_NOT_OWNED"])
    const unknown = "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"
    expect(await ask(agent, { threadId: unknown })).toEqual([404, "RESOURCE_NOT_FOUND"])
    expect(await ask(agent, { threadId, mailboxId: unknown })).toEqual([404, "RESOURCE_NOT_FOUND"])
    expect(await ask(agent, { threadId, unread: true })).toEqual([400, "INVALID_REQUEST"])
    expect(await ask(agent, { unread: "perhaps" })).toEqual([400, "INVALID_REQUEST"])
    await receive(agent, mailbox, { subject: "s" })
    const { nextCursor } = await threadsOf(agent, { limit: 1 })
    expect(await ask(agent, { limit: 1, cursor: nextCursor! })).toEqual([200, undefined])
    expect(await ask(agent, { limit: 1, cursor: nextCursor!, unread: true })).toEqual([400, "INVALID_REQUEST"])
    expect(await ask(agent, { threadId, cursor: nextCursor! })).toEqual([400, "INVALID_REQUEST"])
  })

  it("end with their mailbox", async () => {
    const { agent, mailbox } = await newMailbox()
    const { messageId, threadId } = await receive(agent, mailbox, { subject: "s" })
    const label = freshName()
    await update(agent, { messageIds: [messageId], addLabels: [label] })
    expect((await threadsOf(agent, { label })).items).toMatchObject([{ threadId }])
    await agent.pay({ path: `${EMAIL}/mailboxes/delete`, body: { mailboxId: mailbox.mailboxId } })
    expect((await threadsOf(agent, { label })).items).toEqual([])
    expect((await threadsOf(agent, { limit: 100 })).items.map((item) => item.threadId)).not.toContain(threadId)
  })
})

describe("labels and the unread flag", () => {
  it("are set on several messages at once, and filter messages and threads", async () => {
    const { agent, mailbox } = await newMailbox()
    const { mailboxId } = mailbox
    const one = await receive(agent, mailbox, { subject: "one" })
    const two = await receive(agent, mailbox, { subject: "two" })
    const three = await receive(agent, mailbox, { subject: "three" })
    const changed = await update(agent, {
      messageIds: [one.messageId, three.messageId],
      addLabels: [" To Do ", "Invoice", "invoice"],
      unread: false
    })
    const marks = { labels: ["invoice", "to do"], unread: false }
    expect(changed.body.data["items"]).toEqual([one, three].map(({ messageId }) => ({ messageId, ...marks })))
    expect((await messagesOf(agent, { mailboxId })).items).toMatchObject([
      { ...marks, messageId: three.messageId },
      { messageId: two.messageId, labels: [], unread: true },
      { ...marks, messageId: one.messageId }
    ])
    const found = async (query: Query) => idsOf((await messagesOf(agent, { mailboxId, ...query })).items)
    expect(await found({ label: "TO DO" })).toEqual([three.messageId, one.messageId])
    expect(await found({ label: "to do", q: "one" })).toEqual([one.messageId])
    expect(await found({ unread: true })).toEqual([two.messageId])
    expect(await found({ unread: false })).toEqual([three.messageId, one.messageId])
    expect(await found({ label: "to do", unread: true })).toEqual([])
    const paged = await messagesOf(agent, { mailboxId, label: "to do", limit: 1 })
    const next = { mailboxId, label: "To Do", limit: 1, cursor: paged.nextCursor! }
    expect((await messagesOf(agent, next)).items).toMatchObject([{ messageId: one.messageId }])

    // Reading changes nothing.
    await agent.send({ path: `${EMAIL}/messages/query?messageId=${two.messageId}` })
    expect((await threadsOf(agent, { mailboxId, unread: true })).items).toMatchObject([
      { threadId: two.threadId, unreadCount: 1 }
    ])
    expect((await threadsOf(agent, { mailboxId, label: "invoice" })).items).toMatchObject([
      { threadId: three.threadId, labels: marks.labels, unreadCount: 0 },
      { threadId: one.threadId }
    ])
    await update(agent, { messageIds: [three.messageId], removeLabels: ["INVOICE", "none"] })
    await update(agent, { messageIds: [three.messageId], unread: true })
    const { items } = await messagesOf(agent, { mailboxId, limit: 1 })
    expect(items).toMatchObject([{ labels: ["to do"], unread: true }])
    expect((await threadsOf(agent, { mailboxId, label: "invoice" })).items).toHaveLength(1)
  })

  it("change all of the messages, or none", async () => {
    const { agent, mailbox } = await newMailbox()
    const { agent: stranger, mailbox: theirs } = await newMailbox(1)
    const { messageId } = await receive(agent, mailbox, { subject: "s" })
    const foreign = await receive(stranger, theirs, { subject: "s" })
    const refused = async (body: Readonly<Record<string, unknown>>) => {
      const reply = await update(agent, body)
      expect((await messagesOf(agent, { mailboxId: mailbox.mailboxId })).items).toMatchObject([
        { labels: [], unread: true }
      ])
      return [reply.status, reply.body.error.code, ...(reply.body.error.issues?.map(({ path }) => path) ?? [])]
    }
    const change = { addLabels: ["a"], unread: false }
    expect(await refused({ messageIds: [messageId, foreign.messageId], ...change })).toEqual([
      403,
      "RESOURCE_NOT_OWNED"
    ])
    expect(await refused({ messageIds: [messageId, mailbox.mailboxId], ...change })).toEqual([
      404,
      "RESOURCE_NOT_FOUND"
    ])
    const wrong = (body: Readonly<Record<string, unknown>>) => refused({ messageIds: [messageId], ...body })
    expect(await wrong({})).toEqual([400, "INVALID_REQUEST", ""])
    expect(await wrong({ addLabels: ["a", "B"], removeLabels: ["b"] })).toEqual([400, "INVALID_REQUEST", "addLabels.1"])
    for (const label of ["", " ", "a\nb", "x".repeat(65), "Unread", "\u202e"])
      expect(await wrong({ addLabels: [label] })).toEqual([400, "INVALID_REQUEST", "addLabels.0"])
    expect(await refused({ messageIds: [], unread: true })).toEqual([400, "INVALID_REQUEST", "messageIds"])
    const many = Array.from({ length: 101 }, () => messageId)
    expect(await refused({ messageIds: many, unread: true })).toEqual([400, "INVALID_REQUEST", "messageIds"])
    const labels = (from: number, count: number) => Array.from({ length: count }, (_, n) => `label ${from + n}`)
    expect((await update(agent, { messageIds: [messageId], addLabels: labels(0, 20) })).status).toBe(200)
    const full = await update(agent, { messageIds: [messageId], addLabels: ["one more"] })
    expect(full.body.error.issues?.map(({ path }) => path)).toEqual(["messageIds.0"])
    const swapped = { messageIds: [messageId], addLabels: labels(20, 5), removeLabels: labels(0, 5) }
    expect((await update(agent, swapped)).status).toBe(200)
  })
})

describe("metadata of a mailbox", () => {
  it("is set with it, changed by key, and shown", async () => {
    const { agent } = await newMailbox()
    const created = await agent.pay({
      path: `${EMAIL}/mailboxes`,
      body: { localPart: freshName(), metadata: { customer: "cus_42", plan: "pro", empty: "" } }
    })
    const mailbox = created.body.data["mailbox"]! as MailboxFields
    expect(mailbox).toMatchObject({ metadata: { customer: "cus_42", plan: "pro" } })
    const { mailboxId } = mailbox
    const change = (metadata: unknown) => ({ path: `${EMAIL}/mailboxes/update`, body: { mailboxId, metadata } })
    const changed = await agent.pay(change({ plan: "", customer: null, "é 👋": "a\nb" }))
    expect((changed.body.data["mailbox"]! as Record<string, unknown>)["metadata"]).toEqual({ "é 👋": "a\nb" })
    const keys = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`key ${from + n}`, "v"]))
    for (const metadata of [
      { ["k".repeat(41)]: "v" },
      { "": "v" },
      { k: "v".repeat(501) },
      { k: 1 },
      keys(0, 21),
      []
    ]) {
      const reply = await agent.send(change(metadata))
      expect([reply.status, reply.body.error.issues?.[0]?.path.split(".")[0]]).toEqual([400, "metadata"])
    }
    await agent.pay(change(keys(0, 19)))
    // A change that would result in too many keys is not charged.
    const full = await agent.send(change({ another: "v" }))
    expect([full.status, full.body.error.issues?.[0]?.path]).toEqual([400, "metadata"])
    const listed = await agent.send({ path: `${EMAIL}/mailboxes/query` })
    const items = listed.body.data["items"] as unknown as ReadonlyArray<MailboxFields & { metadata: object }>
    const found = items.find((item) => item.mailboxId === mailboxId)
    expect(Object.keys(found!.metadata)).toHaveLength(20)
  })
})
