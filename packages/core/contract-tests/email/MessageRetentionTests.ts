import {
  AttachmentStore,
  type InboundMailStore,
  type Mailbox,
  MailboxStore,
  type Message,
  MessageRetryStore,
  MessageStore,
  type RetentionScope,
  TenantStore,
  Timestamp,
  threadOf,
  Transactor
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Sample from "./MessageSample.ts"

/** The ports of the tests of `findOld` and `remove`. */
export type RetentionPorts = AttachmentStore | InboundMailStore | MailboxStore | MessageRetryStore | MessageStore

type Tests = ContractTests<RetentionPorts>

/** Longer than other tests advance the clock, so that none of their messages is this old. */
const AGE = 10_000 * Timestamp.DAY
const SIZE = 7

/** Removes messages of a mailbox under the tenant's lock. */
const removed = Effect.fnUntraced(function* (
  { tenantId }: Pick<Mailbox, "tenantId">,
  messages: ReadonlyArray<Message>
) {
  const store = yield* MessageStore
  const tenants = yield* TenantStore
  const { transact } = yield* Transactor
  const ids = messages.map(({ messageId }) => messageId)
  return yield* transact(Effect.andThen(tenants.lock([tenantId]), store.remove(tenantId, ids)))
})

const usageOf = Effect.fnUntraced(function* ({ mailboxId }: Mailbox) {
  return (yield* (yield* MailboxStore).findStandings([mailboxId])).get(mailboxId)?.usage
})

/** Compares messages, threads, labels and usage of a mailbox with those of these messages. */
const assertHas = Effect.fnUntraced(function* (mailbox: Mailbox, left: ReadonlyArray<Message>) {
  const store = yield* MessageStore
  const { mailboxId, tenantId } = mailbox
  const newestFirst = left.toSorted((a, b) => b.createdAt - a.createdAt)
  const listed = yield* store.list(tenantId, { mailboxId }, undefined, 1_000)
  assert.deepStrictEqual(listed, newestFirst.map(Sample.summary))
  const threads = [...Map.groupBy(left, ({ threadId }) => threadId).values()].map(threadOf)
  const byActivity = threads.toSorted((a, b) => b.lastMessageAt - a.lastMessageAt)
  assert.deepStrictEqual(yield* store.listThreads(tenantId, { mailboxId }, undefined, 1_000), byActivity)
  for (const label of ["a", "b"]) {
    const of = <A extends { readonly labels: ReadonlyArray<string> }>(all: ReadonlyArray<A>) =>
      all.filter(({ labels }) => labels.includes(label))
    const messages = yield* store.list(tenantId, { mailboxId, label }, undefined, 1_000)
    assert.deepStrictEqual(messages, of(newestFirst).map(Sample.summary))
    assert.deepStrictEqual(yield* store.listThreads(tenantId, { mailboxId, label }, undefined, 1_000), of(byActivity))
  }
  assert.deepStrictEqual(yield* usageOf(mailbox), { messages: left.length, bytes: left.length * SIZE })
})

/** Stores messages of a mailbox in two threads, each a second after the one before, with different marks. */
const conversation = Effect.fnUntraced(function* (mailbox: Mailbox, count: number) {
  const { createdAt } = yield* Sample.message(mailbox)
  const threads = [yield* Fresh.id, yield* Fresh.id]
  const file = { filename: "a", contentType: "text/plain", sizeBytes: 1, sha256: "" }
  return yield* Effect.forEach(Array.range(0, count - 1), (n) =>
    Sample.stored(
      mailbox,
      {
        threadId: threads[n % 3 === 1 ? 1 : 0]!,
        createdAt: Timestamp.add(createdAt, n * 1_000),
        subject: `subject ${n}`,
        snippet: `snippet ${n}`,
        from: `p${n}@b.test`,
        unread: n % 2 === 0,
        labels: [["a"], ["a", "b"], []][n % 3]!,
        attachments: n < 2 ? [file] : []
      },
      { sizeBytes: SIZE }
    )
  )
})

/** Tests of `findOld` and `remove`. */
export const messageRetentionTests: Tests = (it) => {
  describe("findOld", () => {
    it.effect("returns messages of that age, oldest first, except those that wait for an attempt", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const now = yield* (yield* StoreClock).now
        const [, second, first, waiting] = yield* Effect.forEach([-60_000, 1_000, 2_000, 3_000], (more) =>
          Sample.stored(mailbox, { createdAt: Timestamp.add(now, -AGE - more) })
        )
        yield* (yield* MessageRetryStore).schedule(waiting!.messageId, tenantId, Timestamp.DAY)
        const old = yield* store.findOld({ age: AGE, limit: 1_000 })
        assert.deepStrictEqual(
          old.filter((each) => each.tenantId === tenantId),
          [first!, second!].map(({ messageId }) => ({ messageId, tenantId }))
        )
        assert.deepStrictEqual(yield* store.findOld({ age: AGE, limit: 1 }), old.slice(0, 1))
        assert.strictEqual(yield* removed(mailbox, [first!, second!, waiting!]), 2)
        assert.strictEqual((yield* store.find(tenantId, waiting!.messageId))._tag, "Owned")
      })
    )
  })

  it.effect("takes the messages of one tenant, or of all but some", () =>
    Effect.gen(function* () {
      const { findOld } = yield* MessageStore
      const now = yield* (yield* StoreClock).now
      const owners = [yield* Mailboxes.owner, yield* Mailboxes.owner]
      const [one, two] = yield* Effect.forEach(owners, ({ mailbox }) =>
        Sample.stored(mailbox, { createdAt: Timestamp.add(now, -AGE - 1_000) })
      )
      const idsOf = (scope: RetentionScope) =>
        Effect.map(findOld({ age: AGE, limit: 1_000, ...scope }), (old) => old.map(({ messageId }) => messageId))
      assert.deepStrictEqual(yield* idsOf({ tenantId: one!.tenantId }), [one!.messageId])
      const others = yield* idsOf({ except: [one!.tenantId] })
      assert.notInclude(others, one!.messageId)
      assert.include(others, two!.messageId)
      yield* Effect.forEach(owners, ({ mailbox }, index) => removed(mailbox, [[one!, two!][index]!]))
    })
  )

  describe("remove", () => {
    it.effect("keeps threads, labels, unread counts and usage exact, in whatever order messages are deleted", () =>
      Effect.gen(function* () {
        const { mailbox, tenant } = yield* Mailboxes.owner
        const other = yield* Mailboxes.stored(tenant)
        const messages = yield* conversation(mailbox, 9)
        const foreign = yield* conversation(other, 4)
        let left: ReadonlyArray<Message> = messages
        yield* assertHas(mailbox, left)
        for (const batch of [[0, 1], [8], [4], [7], [3, 5], [2, 6]].map((each) => each.map((n) => messages[n]!))) {
          assert.strictEqual(yield* removed(mailbox, batch), batch.length)
          left = left.filter((message) => !batch.includes(message))
          yield* assertHas(mailbox, left)
        }
        yield* assertHas(other, foreign)
        const again = { threadId: messages[0]!.threadId, subject: "again" }
        yield* assertHas(mailbox, [yield* Sample.stored(mailbox, again, { sizeBytes: SIZE })])
      })
    )

    it.effect("counts a thread of many messages, and describes it by its first and its last one", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const { createdAt } = yield* Sample.message(mailbox)
        const threadId = yield* Fresh.id
        const messages = yield* Effect.forEach(Array.range(0, 130), (n) =>
          Sample.message(mailbox, {
            threadId,
            createdAt: Timestamp.add(createdAt, n),
            snippet: `${n}`,
            subject: `${n}`
          })
        )
        yield* store.insert(messages.map((message) => Sample.fresh(message)))
        assert.strictEqual(yield* removed(mailbox, messages.slice(0, 10)), 10)
        const found = yield* store.findThread(tenantId, threadId, undefined)
        assert.deepStrictEqual(found, { _tag: "Owned", value: threadOf(messages.slice(10)) })
      })
    )

    it.effect("deletes attachments and reports, and raw mail with the last message that refers to it", () =>
      Effect.gen(function* () {
        const attachments = yield* AttachmentStore
        const one = yield* Mailboxes.owner
        const two = yield* Mailboxes.owner
        const mail = yield* Sample.addedMail()
        const { inboundMailId } = mail
        const first = yield* Sample.stored(one.mailbox, {}, { inboundMailId })
        const second = yield* Sample.stored(two.mailbox, {}, { inboundMailId })
        yield* Sample.completed(mail)
        const operationId = yield* Fresh.id
        yield* attachments.stage(operationId, [{ filename: "a", contentType: "text/plain", contentBase64: "YQ==" }])
        yield* attachments.assign(operationId, one.tenantId, first.messageId)
        const { addReport, listReports } = yield* MessageStore
        const report = { _tag: "Feedback", feedbackType: "abuse", recipients: [] } as const
        const { createdAt: receivedAt, messageId } = first
        yield* addReport({ reportId: yield* Fresh.id, messageId, receivedAt, remoteAddress: "2001:db8::1", report })
        assert.strictEqual(yield* removed(one.mailbox, [first]), 1)
        assert.deepStrictEqual(yield* listReports(messageId), [])
        assert.isTrue(Option.isNone(yield* attachments.read(one.tenantId, first.messageId, 0)))
        assert.strictEqual(yield* Sample.rawOf(second), Sample.latin1(mail.raw))
        assert.strictEqual(yield* removed(two.mailbox, [second]), 1)
        assert.lengthOf(yield* Sample.bytesOf(mail), 0)
      })
    )

    it.effect("deletes nothing of another tenant, and nothing twice", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.owner
        const message = yield* Sample.stored(mailbox, {}, { sizeBytes: SIZE })
        assert.strictEqual(yield* removed(other.mailbox, [message]), 0)
        assert.strictEqual((yield* store.find(tenantId, message.messageId))._tag, "Owned")
        assert.strictEqual(yield* removed(mailbox, [message]), 1)
        assert.strictEqual(yield* removed(mailbox, [message]), 0)
        assert.strictEqual(yield* removed(mailbox, []), 0)
        yield* assertHas(mailbox, [])
      })
    )

    it.effect("is undone with its transaction", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const messages = yield* conversation(mailbox, 4)
        yield* rolledBack(store.remove(tenantId, [messages[0]!.messageId]))
        yield* assertHas(mailbox, messages)
      })
    )
  })
}
