import { MessageStore, TenantStore, Timestamp, Uuid, walletAddress } from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerTestPGlite } from "./support/TestPGlite.ts"

/** The verdicts of the checks of a sender. */
type Verdicts = object | null

/** A summary as versions before the proven domain and truncation wrote it. */
const summary = (authentication: Verdicts) =>
  JSON.stringify({
    direction: "inbound",
    from: "someone@example.org",
    to: ["ada@agents.test"],
    cc: [],
    bcc: [],
    subject: "Hello",
    snippet: "",
    messageIdHeader: null,
    inReplyTo: null,
    references: [],
    attachments: [],
    authentication,
    malformed: false,
    status: "received",
    recipients: []
  })

/** Stores messages of a new tenant, one with each of these verdicts. */
const addMessages = Effect.fnUntraced(function* (verdicts: ReadonlyArray<Verdicts>) {
  const { sql } = yield* Database
  const tenants = yield* TenantStore
  const id = yield* Uuid.next
  const wallet = walletAddress(`0x${id.replaceAll("-", "").padStart(40, "0")}`)
  const createdAt = yield* Timestamp.now
  const { tenantId } = yield* tenants.ensure({ tenantId: id, wallet, tokenVersion: 1, createdAt })
  yield* sql`
    insert into mailboxes (mailbox_id, tenant_id, local_part, address, active, created_at, updated_at)
    values (${id}, ${tenantId}, ${id}, ${`${id}@agents.test`}, true, 1, 1)`
  const messageIds = yield* Effect.forEach(verdicts, () => Uuid.next)
  for (const [index, messageId] of messageIds.entries()) {
    yield* sql`
      insert into messages (message_id, tenant_id, mailbox_id, thread_id, created_at, summary, body)
      values (${messageId}, ${tenantId}, ${id}, ${messageId}, 1, ${summary(verdicts[index] ?? null)},
        '{"text":null,"html":null}')`
  }
  return { tenantId, messageIds }
})

layer(Layer.provideMerge(Postgres.layer, layerTestPGlite), { excludeTestServices: true })(
  "a message of an older version",
  (it) => {
    it.effect("is read with no proven domain, as not truncated, and with names that are not known", () =>
      Effect.gen(function* () {
        const {
          messageIds: [checked, unchecked],
          tenantId
        } = yield* addMessages([{ spf: "pass", dkim: "none", dmarc: "pass" }, null])
        const store = yield* MessageStore
        const listed = yield* store.list(tenantId, {}, undefined, 10)
        const verdictsOf = new Map(listed.map(({ authentication, messageId }) => [messageId, authentication]))
        assert.deepStrictEqual(verdictsOf.get(checked!), { spf: "pass", dkim: "none", dmarc: "pass", domain: null })
        assert.isNull(verdictsOf.get(unchecked!))
        assert.deepStrictEqual(
          listed.map(({ truncated }) => truncated),
          [false, false]
        )
        assert.deepStrictEqual(
          listed.map(({ recipients, sender }) => ({ recipients, sender })),
          [checked, unchecked].map(() => ({
            sender: { address: "someone@example.org", name: null },
            recipients: [
              { address: "ada@agents.test", name: null, kind: "to" as const, status: "received" as const, reason: null }
            ]
          }))
        )
      })
    )

    it.effect("is found once the job has made it searchable", () =>
      Effect.gen(function* () {
        const { sql } = yield* Database
        const store = yield* MessageStore
        const { tenantId } = yield* addMessages([null, null, null])
        yield* sql`update messages set body = '{"text":"an older message","html":null}' where tenant_id = ${tenantId}`
        const find = store.list(tenantId, { words: ["older"] }, undefined, 10)
        assert.lengthOf(yield* find, 0)
        const made: Array<number> = []
        while (made.at(-1) !== 0) made.push(yield* store.makeSearchable(2))
        // With those of the test before.
        assert.deepStrictEqual(made, [2, 2, 1, 0])
        assert.lengthOf(yield* find, 3)
      })
    )

    it.effect("is unread, and in no thread until the job or a change of its labels has added it", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const {
          messageIds: [first, second, third],
          tenantId
        } = yield* addMessages([null, null, null])
        const found = yield* store.find(tenantId, first!)
        assert(found._tag === "Owned")
        assert.deepInclude(found.value, { labels: [], unread: true })
        assert.deepStrictEqual(yield* store.listThreads(tenantId, {}, undefined, 10), [])
        assert.deepStrictEqual(yield* store.list(tenantId, { unread: true }, undefined, 10), [])
        yield* store.setMarks(tenantId, new Map([[second!, { labels: ["a"], unread: false }]]))
        const counted: Array<number> = []
        while (counted.at(-1) !== 0) counted.push(yield* store.addToThreads(4))
        // With those of the tests before.
        assert.deepStrictEqual(counted, [4, 3, 0])
        const threads = yield* store.listThreads(tenantId, {}, undefined, 10)
        assert.sameDeepMembers(
          threads.map(({ labels, messageCount, participants, threadId, unreadCount }) => ({
            labels,
            messageCount,
            participants,
            threadId,
            unreadCount
          })),
          [first!, second!, third!].map((threadId) => ({
            threadId,
            labels: threadId === second ? ["a"] : [],
            messageCount: 1,
            participants: ["someone@example.org", "ada@agents.test"],
            unreadCount: threadId === second ? 0 : 1
          }))
        )
        const unread = yield* store.list(tenantId, { unread: true }, undefined, 10)
        assert.sameMembers(
          unread.map(({ messageId }) => messageId),
          [first!, third!]
        )
      })
    )

    it.effect("joins a thread that newer messages are in", () =>
      Effect.gen(function* () {
        const { sql } = yield* Database
        const store = yield* MessageStore
        const {
          messageIds: [older],
          tenantId
        } = yield* addMessages([null])
        const found = yield* store.find(tenantId, older!)
        assert(found._tag === "Owned")
        const message = { ...found.value, messageId: yield* Uuid.next, subject: "Re: Hello", snippet: "newer" }
        const createdAt = Timestamp.add(message.createdAt, 1)
        const stored = { message: { ...message, createdAt }, duplicateKey: null, inboundMailId: null, sizeBytes: 0 }
        yield* store.insert([stored])
        const [before] = yield* store.listThreads(tenantId, {}, undefined, 10)
        assert.deepInclude(before, { messageCount: 1, subject: "Re: Hello", snippet: "newer" })
        assert.strictEqual(yield* store.addToThreads(10), 1)
        const [after] = yield* store.listThreads(tenantId, {}, undefined, 10)
        assert.deepInclude(after, { messageCount: 2, unreadCount: 2, subject: "Hello", snippet: "newer" })
        // A server of the old version deletes a mailbox without its threads.
        yield* sql`delete from messages where tenant_id = ${tenantId}`
        yield* sql`delete from mailboxes where tenant_id = ${tenantId}`
        assert.deepStrictEqual(yield* store.listThreads(tenantId, {}, undefined, 10), [])
      })
    )
  }
)
