import {
  Lookup,
  MailboxStore,
  type Mailbox,
  type Message,
  type MessageFilter,
  type MessageMarks,
  MessageStore,
  PARTICIPANT_LIMIT,
  Timestamp,
  type Thread,
  threadOf
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { readPages } from "../Paging.ts"
import { rolledBack } from "../RolledBack.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Sample from "./MessageSample.ts"

type Tests = ContractTests<MailboxStore | MessageStore>

/** Stores messages of a mailbox, each a second after the one before. */
const conversation = Effect.fnUntraced(function* (mailbox: Mailbox, parts: ReadonlyArray<Partial<Message>>) {
  const { createdAt } = yield* Sample.message(mailbox)
  return yield* Effect.forEach(parts, (part, n) =>
    Sample.stored(mailbox, { createdAt: Timestamp.add(createdAt, n * 1_000), ...part })
  )
})

const positionOf = ({ lastMessageAt, lastMessageId }: Thread) => ({ createdAt: lastMessageAt, id: lastMessageId })

/** Returns whether `a` comes before `b` in a list of threads. */
const isNewer = (a: Thread, b: Thread): boolean =>
  a.lastMessageAt > b.lastMessageAt || (a.lastMessageAt === b.lastMessageAt && a.lastMessageId > b.lastMessageId)

/** Tests of `listThreads`, `findThread` and `listThread`. */
export const threadListTests: Tests = (it) => {
  describe("threads", () => {
    it.effect("count their messages, and describe the first and the last one", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const threadId = yield* Fresh.id
        const file = { filename: "a", contentType: "text/plain", sizeBytes: 1, sha256: "" }
        const messages = yield* conversation(mailbox, [
          { threadId, subject: "Offer", snippet: "one", from: "Bob@Example.org", to: [mailbox.address, "c@b.test"] },
          {
            threadId,
            subject: "Re: Offer",
            snippet: "two",
            direction: "outbound",
            from: mailbox.address,
            to: ["bob@example.org"]
          },
          { threadId, subject: "Re: Offer", snippet: "three", from: "d@b.test", cc: ["e@b.test"], attachments: [file] }
        ])
        const thread: Thread = {
          threadId,
          mailboxId: mailbox.mailboxId,
          subject: "Offer",
          participants: ["bob@example.org", mailbox.address, "c@b.test", "d@b.test", "e@b.test"],
          messageCount: 3,
          unreadCount: 2,
          hasAttachments: true,
          labels: [],
          firstMessageAt: messages[0]!.createdAt,
          lastMessageAt: messages[2]!.createdAt,
          lastMessageId: messages[2]!.messageId,
          snippet: "three"
        }
        assert.deepStrictEqual(threadOf(messages.map(Sample.summary)), thread)
        assert.deepStrictEqual(yield* store.findThread(tenantId, threadId, undefined), Lookup.owned(thread))
        assert.deepStrictEqual(yield* store.listThreads(tenantId, {}, undefined, 10), [thread])
        assert.strictEqual(yield* store.addToThreads(10), 0)
      })
    )

    it.effect("are the same whatever the order and the number of inserts, also of older messages", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const { createdAt } = yield* Sample.message(mailbox)
        const made = yield* Effect.forEach(Array.range(1, 6), (n) =>
          Sample.message(mailbox, {
            createdAt: Timestamp.add(createdAt, n === 3 ? 0 : 1 + (n % 2)),
            subject: `subject ${n}`,
            snippet: `snippet ${n}`,
            from: `a${n}@b.test`,
            labels: n === 4 ? ["late"] : [],
            attachments: []
          })
        )
        for (const groups of [[[0, 1, 2, 3, 4, 5]], [[5], [4, 3], [0, 2, 1]], [[2], [1], [0], [5, 4, 3]]]) {
          const threadId = yield* Fresh.id
          const copies = yield* Effect.forEach(made, (message) =>
            Effect.map(Fresh.id, (messageId) => ({ ...message, messageId, threadId }))
          )
          for (const group of groups) yield* store.insert(group.map((place) => Sample.fresh(copies[place]!)))
          const { participants, ...expected } = threadOf(copies.map(Sample.summary))
          const found = yield* store.findThread(tenantId, threadId, mailbox.mailboxId)
          assert(found._tag === "Owned")
          const { participants: stored, ...thread } = found.value
          assert.deepStrictEqual(thread, expected)
          assert.sameMembers([...stored], [...participants])
        }
      })
    )

    it.effect("leave out duplicates and messages whose transaction failed", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const threadId = yield* Fresh.id
        const duplicateKey = yield* Fresh.word
        const first = yield* Sample.stored(mailbox, { threadId }, { duplicateKey })
        const copies = [yield* Sample.message(mailbox, { threadId }), yield* Sample.message(mailbox)]
        const batch = copies.map((copy) => Sample.fresh(copy, { duplicateKey }))
        assert.deepStrictEqual(yield* store.insert(batch), new Set())
        yield* rolledBack(Sample.stored(mailbox, { threadId }))
        yield* rolledBack(Sample.stored(mailbox, { labels: ["x"] }))
        assert.deepStrictEqual(yield* store.listThreads(tenantId, {}, undefined, 10), [
          threadOf([Sample.summary(first)])
        ])
      })
    )

    it.effect("list a bounded number of participants, each on one line", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const threadId = yield* Fresh.id
        const many = (prefix: string) => Array.range(1, 50).map((n) => `${prefix}${n}@b.test`)
        const messages = yield* conversation(mailbox, [
          { threadId, from: "", to: ["a\nb@b.test", ...many("t").slice(0, 5)] },
          { threadId, from: "X@b.test", to: many("t"), cc: many("c") },
          { threadId, from: "later@b.test", to: [] }
        ])
        const [thread] = yield* store.listThreads(tenantId, {}, undefined, 10)
        assert.lengthOf(thread!.participants, PARTICIPANT_LIMIT)
        assert.deepStrictEqual(thread, threadOf(messages.map(Sample.summary)))
      })
    )

    it.effect("keep every text exactly", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        for (const text of AWKWARD_TEXTS) {
          const message = yield* Sample.stored(mailbox, { subject: text, snippet: text })
          const found = yield* store.findThread(tenantId, message.threadId, undefined)
          assert(found._tag === "Owned")
          assert.deepInclude(found.value, { subject: text, snippet: text })
        }
      })
    )

    it.effect("are listed by their newest message, in pages, of one mailbox or of all", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenant, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.stored(tenant)
        const stranger = yield* Mailboxes.owner
        yield* Sample.stored(stranger.mailbox)
        const { createdAt } = yield* Sample.message(mailbox)
        const threads = yield* Effect.forEach(Array.range(1, 6), () => Fresh.id)
        const stored = yield* Effect.forEach(Array.range(1, 18), (n) =>
          Sample.stored(n % 5 === 0 ? other : mailbox, {
            threadId: threads[n % 6]!,
            createdAt: Timestamp.add(createdAt, (n * 7) % 11),
            direction: n % 6 === 1 ? "outbound" : "inbound"
          })
        )
        const groups = Map.groupBy(stored.map(Sample.summary), (message) => message.threadId + message.mailboxId)
        const expected = [...groups.values()].map(threadOf).toSorted((a, b) => (isNewer(a, b) ? -1 : 1))
        const withMembers = ({ participants, ...thread }: Thread) => ({
          ...thread,
          participants: participants.toSorted()
        })
        const filters: ReadonlyArray<readonly [Parameters<typeof store.listThreads>[1], (thread: Thread) => boolean]> =
          [
            [{}, () => true],
            [{ mailboxId: mailbox.mailboxId }, ({ mailboxId }) => mailboxId === mailbox.mailboxId],
            [{ mailboxId: other.mailboxId, unread: true }, (t) => t.mailboxId === other.mailboxId && t.unreadCount > 0],
            [{ unread: true }, ({ unreadCount }) => unreadCount > 0],
            [{ unread: false }, ({ unreadCount }) => unreadCount === 0],
            [{ mailboxId: stranger.mailbox.mailboxId }, () => false],
            [{ mailboxId: yield* Fresh.id }, () => false],
            [{ label: "none" }, () => false]
          ]
        for (const [filter, matches] of filters) {
          for (const limit of [1, 4, 50]) {
            const found = yield* readPages({
              load: (after, size) => store.listThreads(tenantId, filter, after, size),
              positionOf,
              limit,
              most: 50
            })
            assert.deepStrictEqual(found.map(withMembers), expected.filter(matches).map(withMembers))
          }
        }
        assert.deepStrictEqual(yield* store.listThreads(yield* Fresh.id, {}, undefined, 10), [])
      })
    )

    it.effect("list their messages oldest first, in pages, each in its mailbox", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenant, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.stored(tenant)
        const threadId = yield* Fresh.id
        const messages = yield* conversation(
          mailbox,
          Array.makeBy(5, () => ({ threadId }))
        )
        const elsewhere = yield* Sample.stored(other, {
          threadId,
          direction: "outbound",
          createdAt: Timestamp.add(messages[0]!.createdAt, 5)
        })
        const thread = { threadId, mailboxId: mailbox.mailboxId }
        for (const limit of [1, 2, 10]) {
          const found = yield* readPages({
            load: (after, size) => store.listThread(tenantId, thread, after, size),
            positionOf: ({ createdAt, messageId }) => ({ createdAt, id: messageId }),
            limit,
            most: 20
          })
          assert.deepStrictEqual(found, messages.map(Sample.summary))
        }
        const found = (mailboxId?: string) => store.findThread(tenantId, threadId, mailboxId)
        assert.deepStrictEqual(yield* found(other.mailboxId), Lookup.owned(threadOf([Sample.summary(elsewhere)])))
        assert.deepStrictEqual(yield* found(), Lookup.owned(threadOf(messages.map(Sample.summary))))
        assert.deepStrictEqual(yield* found(yield* Fresh.id), Lookup.missing)
        assert.deepStrictEqual(yield* store.findThread(yield* Fresh.id, threadId, undefined), Lookup.foreign)
        assert.deepStrictEqual(yield* store.findThread(tenantId, yield* Fresh.id, undefined), Lookup.missing)
        assert.deepStrictEqual(yield* store.listThread(yield* Fresh.id, thread, undefined, 10), [])
      })
    )

    it.effect("are deleted with their mailbox", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const mailboxes = yield* MailboxStore
        const { mailbox, tenant, tenantId } = yield* Mailboxes.owner
        const kept = yield* Sample.stored(yield* Mailboxes.stored(tenant), { labels: ["x"] })
        const { threadId } = yield* Sample.stored(mailbox, { labels: ["x"] })
        yield* mailboxes.remove(tenantId, mailbox.mailboxId)
        for (const filter of [{}, { label: "x" }, { unread: true }]) {
          const threads = yield* store.listThreads(tenantId, filter, undefined, 10)
          assert.deepStrictEqual(
            threads.map((thread) => thread.threadId),
            [kept.threadId]
          )
        }
        assert.deepStrictEqual(yield* store.findThread(tenantId, threadId, undefined), Lookup.missing)
      })
    )
  })
}

/** Tests of `findMarks` and `setMarks`, and of the filters by them. */
export const markTests: Tests = (it) => {
  describe("marks", () => {
    it.effect("are replaced, and counted by their threads", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const threadId = yield* Fresh.id
        const messages = yield* conversation(mailbox, [
          { threadId, labels: ["new"] },
          { threadId },
          { threadId, direction: "outbound" },
          {}
        ])
        const now = new Map<string, Message>(messages.map((message) => [message.messageId, message]))
        const check = Effect.gen(function* () {
          const expected = [...now.values()].toSorted((a, b) => b.createdAt - a.createdAt)
          assert.deepStrictEqual(yield* store.list(tenantId, {}, undefined, 10), expected.map(Sample.summary))
          const groups = Map.groupBy(expected.map(Sample.summary), (message) => message.threadId)
          const threads = [...groups.values()].map(threadOf).toSorted((a, b) => (isNewer(a, b) ? -1 : 1))
          assert.deepStrictEqual(yield* store.listThreads(tenantId, {}, undefined, 10), threads)
          for (const label of ["new", "a", "ä b'\\"]) {
            const filter = { label }
            assert.deepStrictEqual(
              yield* store.listThreads(tenantId, filter, undefined, 10),
              threads.filter(({ labels }) => labels.includes(label))
            )
          }
        })
        yield* check
        const set = Effect.fnUntraced(function* (
          ...changes: ReadonlyArray<readonly [number, ReadonlyArray<string>, boolean]>
        ) {
          const marks = changes.map(
            ([place, labels, unread]) => [messages[place]!.messageId, { labels, unread }] as const
          )
          yield* rolledBack(store.setMarks(tenantId, new Map(marks)))
          yield* check
          yield* store.setMarks(tenantId, new Map(marks))
          for (const [id, mark] of marks) now.set(id, { ...now.get(id)!, ...mark })
          yield* check
        })
        yield* set([0, ["a", "new"], false], [1, ["a"], true])
        yield* set([0, [], true], [1, ["a"], false], [3, ["ä b'\\"], true])
        yield* set([2, ["a", "new"], true], [1, [], false])
        yield* set([0, [], false], [1, [], false], [2, [], false], [3, [], false])
        yield* set([0, ["new"], true])
        // A new message moves its thread up in the list by label.
        const [last] = yield* conversation(mailbox, [{ threadId, createdAt: Timestamp.add(messages[3]!.createdAt, 9) }])
        now.set(last!.messageId, last!)
        yield* check
        yield* store.setMarks(tenantId, new Map())
      })
    )

    it.effect("are found and set for messages of the tenant alone", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.owner
        const own = yield* Sample.stored(mailbox, { labels: ["a"] })
        const foreign = yield* Sample.stored(other.mailbox)
        const asked = [own.messageId, foreign.messageId, yield* Fresh.id]
        assert.deepStrictEqual(
          yield* store.findMarks(tenantId, asked),
          new Map<string, Lookup.Lookup<MessageMarks>>([
            [own.messageId, Lookup.owned({ labels: ["a"], unread: true })],
            [foreign.messageId, Lookup.foreign]
          ])
        )
        assert.deepStrictEqual(yield* store.findMarks(tenantId, []), new Map())
        yield* store.setMarks(
          tenantId,
          new Map(asked.map((messageId) => [messageId, { labels: ["b"], unread: false }]))
        )
        assert.deepStrictEqual(
          yield* store.find(other.tenantId, foreign.messageId),
          Lookup.owned({ ...foreign, labels: [], unread: true })
        )
        assert.deepStrictEqual(
          yield* store.find(tenantId, own.messageId),
          Lookup.owned({ ...own, labels: ["b"], unread: false })
        )
      })
    )

    it.effect("filter messages, alone and beside every other part", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenant, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.stored(tenant)
        const { createdAt } = yield* Sample.message(mailbox)
        const stored = yield* Effect.forEach(Array.range(0, 15), (n) =>
          Sample.stored(n % 3 === 0 ? other : mailbox, {
            createdAt: Timestamp.add(createdAt, n >> 1),
            labels: [...(n % 2 === 0 ? ["even"] : []), ...(n % 4 === 0 ? ["four"] : [])],
            unread: n % 5 < 3,
            subject: n < 8 ? "invoice" : "offer"
          })
        )
        const newestFirst = stored.toSorted((a, b) => b.createdAt - a.createdAt || (a.messageId > b.messageId ? -1 : 1))
        for (const label of [undefined, "even", "four", "none"]) {
          for (const unread of [undefined, true, false]) {
            for (const mailboxId of [undefined, other.mailboxId]) {
              for (const words of [undefined, ["invoice"]]) {
                const filter: MessageFilter = { label, unread, mailboxId, words }
                const expected = newestFirst.filter(
                  (message) =>
                    (label === undefined || message.labels.includes(label)) &&
                    (unread === undefined || message.unread === unread) &&
                    (mailboxId === undefined || message.mailboxId === mailboxId) &&
                    (words === undefined || message.subject === "invoice")
                )
                const found = yield* readPages({
                  load: (after, limit) => store.list(tenantId, filter, after, limit),
                  positionOf: (message) => ({ createdAt: message.createdAt, id: message.messageId }),
                  limit: 3,
                  most: 20
                })
                assert.deepStrictEqual(found, expected.map(Sample.summary), JSON.stringify(filter))
              }
            }
          }
        }
        const since = Timestamp.add(createdAt, 3)
        const until = Timestamp.add(createdAt, 5)
        assert.deepStrictEqual(
          yield* store.list(tenantId, { label: "even", since, until }, undefined, 10),
          newestFirst
            .filter((message) => message.createdAt >= since && message.createdAt < until)
            .filter(({ labels }) => labels.includes("even"))
            .map(Sample.summary)
        )
        assert.deepStrictEqual(yield* store.list(yield* Fresh.id, { label: "even" }, undefined, 10), [])
      })
    )
  })
}
