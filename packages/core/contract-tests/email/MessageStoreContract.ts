import { MailboxStore, type Message, MessageStore, type MessageSummary, type Position, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Schema } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import { type ContractTests, defineContract, propertyOptions } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { readPages } from "../Paging.ts"
import { rolledBack } from "../RolledBack.ts"
import { messageOverlapTests } from "./EmailOverlapTests.ts"
import { filterTests } from "./MessageFilterTests.ts"
import { messageRetentionTests, type RetentionPorts } from "./MessageRetentionTests.ts"
import { feedbackTests, reportTests, sendingTests, suppressionListTests, suppressionTests } from "./SuppressionTests.ts"
import { markTests, threadListTests } from "./OrganizedMailTests.ts"
import { threadTests } from "./ThreadTests.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Sample from "./MessageSample.ts"

type Tests = ContractTests<MailboxStore | MessageStore>

const ids = (messages: ReadonlyArray<Pick<Message, "messageId">>) => messages.map((message) => message.messageId)

const positionOf = ({ createdAt, messageId }: MessageSummary) => ({ createdAt, id: messageId })

/** Returns whether `a` comes before `b` in a list: newest first, then by descending id. */
const comesBefore = (a: MessageSummary, b: MessageSummary): boolean =>
  a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.messageId > b.messageId)

/** Longer than an index entry may be, with random characters, so that it cannot be compressed enough. */
const longKey = Effect.map(
  Effect.forEach(Array.range(1, 200), () => Fresh.id),
  (parts) => parts.join("")
)

const insertTests: Tests = (it) => {
  describe("insert", () => {
    it.effect("stores complete messages, and returns the ids of all new ones", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const inbound = yield* Sample.message(mailbox, {
          cc: ["c@example.org", "d@example.org"],
          inReplyTo: "<a@b>",
          references: ["<x@y>", "<a@b>"],
          attachments: [
            {
              filename: "bill.pdf",
              contentType: "application/pdf",
              sizeBytes: 2 ** 31,
              sha256: "ab".repeat(32),
              source: { offset: 2 ** 31, encodedBytes: 2 ** 32, encoding: "base64" }
            },
            { filename: null, contentType: "image/png", sizeBytes: 0, sha256: "" }
          ],
          malformed: true,
          truncated: true,
          html: "<p>How are you?</p>"
        })
        const outbound = yield* Sample.message(mailbox, {
          direction: "outbound",
          status: "sent",
          authentication: null,
          messageIdHeader: null,
          to: ["a@example.org"],
          bcc: ["b@example.org"],
          recipients: [
            { address: "a@example.org", name: null, kind: "to", status: "sent", reason: null },
            { address: "b@example.org", name: "B", kind: "bcc", status: "bounced", reason: "550 5.1.1 no such user" }
          ],
          text: null
        })
        const stored = yield* store.insert([Sample.fresh(inbound), Sample.fresh(outbound)])
        assert.deepStrictEqual(stored, new Set(ids([inbound, outbound])))
        for (const message of [inbound, outbound]) {
          const found = yield* store.find(tenantId, message.messageId)
          assert.deepStrictEqual(found, { _tag: "Owned", value: message })
        }
      })
    )

    it.effect("accepts an empty list", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        assert.deepStrictEqual(yield* store.insert([]), new Set())
      })
    )

    it.effect("keeps every text exactly, including long ones", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const long = "ä👋\r\n"
        const cases = [
          ...AWKWARD_TEXTS.map((text) => ({ text, body: text })),
          // Bodies are the only texts that may be so long.
          { text: long.repeat(1_000), body: long.repeat(150_000) }
        ]
        for (const { body, text } of cases) {
          const message = yield* Sample.stored(mailbox, {
            from: text,
            sender: { address: text, name: text },
            to: [text, "a", text],
            cc: [],
            bcc: [text],
            subject: text,
            snippet: text,
            messageIdHeader: text,
            inReplyTo: text,
            references: [text, text],
            attachments: [{ filename: text, contentType: text, sizeBytes: 1, sha256: text }],
            authentication: { spf: text, dkim: text, dmarc: text, domain: text },
            recipients: [{ address: text, name: text, kind: "cc", status: "failed", reason: text }],
            text: body,
            html: body
          })
          assert.deepStrictEqual(yield* store.find(tenantId, message.messageId), { _tag: "Owned", value: message })
          const listed = yield* store.list(tenantId, {}, undefined, 1_000)
          assert.deepStrictEqual(
            listed.find(({ messageId }) => messageId === message.messageId),
            Sample.summary(message)
          )
        }
      })
    )

    it.effect("leaves out a copy with the same key in the same mailbox, in one call and in another", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        for (const duplicateKey of [yield* longKey, ...AWKWARD_TEXTS]) {
          const [first, second, third] = yield* Effect.all([
            Sample.message(mailbox),
            Sample.message(mailbox),
            Sample.message(mailbox)
          ])
          const batch = [Sample.fresh(first, { duplicateKey }), Sample.fresh(second, { duplicateKey })]
          assert.deepStrictEqual(yield* store.insert(batch), new Set([first.messageId]))
          assert.deepStrictEqual(yield* store.insert([Sample.fresh(third, { duplicateKey })]), new Set())
          assert.deepStrictEqual(yield* store.find(tenantId, second.messageId), { _tag: "Missing" })
          assert.deepStrictEqual(yield* store.find(tenantId, third.messageId), { _tag: "Missing" })
        }
        assert.strictEqual((yield* store.list(tenantId, {}, undefined, 1_000)).length, AWKWARD_TEXTS.length + 1)
      })
    )

    it.effect("stores the same key in another mailbox, a key with any difference, and any number of null keys", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenant } = yield* Mailboxes.owner
        const other = yield* Mailboxes.stored(tenant)
        const key = yield* longKey
        yield* Sample.stored(mailbox, {}, { duplicateKey: key })
        yield* Sample.stored(other, {}, { duplicateKey: key })
        for (const duplicateKey of [
          key.toUpperCase(),
          `${key} `,
          `${key}x`,
          key.slice(1),
          key.slice(0, -1),
          null,
          null
        ]) {
          yield* Sample.stored(mailbox, {}, { duplicateKey })
        }
        const both = [yield* Sample.message(mailbox), yield* Sample.message(mailbox)]
        assert.strictEqual((yield* store.insert(both.map((message) => Sample.fresh(message)))).size, 2)
      })
    )

    it.effect("leaves out a message with another tenant's mailbox", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const other = yield* Fresh.tenant
        const message = yield* Sample.message(mailbox, { tenantId: other.tenantId })
        assert.strictEqual(yield* Sample.inserted(message), 0)
        assert.deepStrictEqual(yield* store.list(tenantId, {}, undefined, 10), [])
        assert.deepStrictEqual(yield* store.list(other.tenantId, {}, undefined, 10), [])
      })
    )

    it.effect("leaves out a message whose mailbox is removed or unknown, and stores the others", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const mailboxes = yield* MailboxStore
        const { mailbox, tenant, tenantId } = yield* Mailboxes.owner
        const gone = yield* Mailboxes.stored(tenant)
        yield* mailboxes.remove(tenantId, gone.mailboxId)
        const kept = yield* Sample.message(mailbox)
        const messages = [
          yield* Sample.message(gone),
          kept,
          yield* Sample.message(yield* Mailboxes.mailbox(tenant))
        ].map((message) => Sample.fresh(message))
        assert.deepStrictEqual(yield* store.insert(messages), new Set([kept.messageId]))
        assert.deepStrictEqual(ids(yield* store.list(tenantId, {}, undefined, 10)), [kept.messageId])
      })
    )

    it.effect("leaves out a message that is already stored", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const message = yield* Sample.stored(mailbox)
        const again = Sample.fresh({ ...message, subject: "another" })
        assert.deepStrictEqual(yield* store.insert([again]), new Set())
        assert.deepStrictEqual(yield* store.find(tenantId, message.messageId), { _tag: "Owned", value: message })
      })
    )

    it.effect("stores one of many concurrent copies", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const duplicateKey = yield* Fresh.word
        const stored = yield* Effect.forEach(
          Array.range(1, 12),
          () => Effect.flatMap(Sample.message(mailbox), (each) => store.insert([Sample.fresh(each, { duplicateKey })])),
          { concurrency: "unbounded" }
        )
        const winners = stored.flatMap((each) => [...each])
        assert.strictEqual(winners.length, 1)
        assert.deepStrictEqual(ids(yield* store.list(tenantId, {}, undefined, 10)), winners)
      })
    )

    it.effect("is undone with its transaction, and the key can be used again", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const duplicateKey = yield* Fresh.word
        yield* rolledBack(Sample.stored(mailbox, {}, { duplicateKey }))
        assert.deepStrictEqual(yield* store.list(tenantId, {}, undefined, 10), [])
        yield* Sample.stored(mailbox, {}, { duplicateKey })
      })
    )
  })
}

const findTests: Tests = (it) => {
  describe("find", () => {
    it.effect("distinguishes the tenant's own message, another tenant's and a missing one", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.owner
        const message = yield* Sample.stored(mailbox)
        assert.deepStrictEqual(yield* store.find(tenantId, message.messageId), { _tag: "Owned", value: message })
        assert.deepStrictEqual(yield* store.find(other.tenantId, message.messageId), { _tag: "Foreign" })
        assert.deepStrictEqual(yield* store.find(yield* Fresh.id, message.messageId), { _tag: "Foreign" })
        assert.deepStrictEqual(yield* store.find(tenantId, yield* Fresh.id), { _tag: "Missing" })
      })
    )
  })
}

const listTests: Tests = (it, capabilities) => {
  describe("list", () => {
    it.effect("returns summaries, newest first, of one mailbox or of all", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenant, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.stored(tenant)
        const stranger = yield* Mailboxes.owner
        yield* Sample.stored(stranger.mailbox)
        const base = yield* Sample.message(mailbox)
        const at = (millis: number) => ({ createdAt: Timestamp.add(base.createdAt, millis) })
        const second = yield* Sample.stored(mailbox, at(2_000))
        const third = yield* Sample.stored(other, at(3_000))
        const first = yield* Sample.stored(mailbox, at(-1_000))
        const list = (mailboxId: string | undefined, limit = 10) =>
          store.list(tenantId, { mailboxId }, undefined, limit)
        assert.deepStrictEqual(yield* list(undefined), [third, second, first].map(Sample.summary))
        assert.deepStrictEqual(yield* list(mailbox.mailboxId), [second, first].map(Sample.summary))
        assert.deepStrictEqual(yield* list(other.mailboxId), [Sample.summary(third)])
        assert.deepStrictEqual(yield* list(undefined, 2), [third, second].map(Sample.summary))
        assert.deepStrictEqual(yield* list(undefined, 0), [])
        assert.deepStrictEqual(yield* list(yield* Fresh.id), [])
        assert.deepStrictEqual(yield* list(stranger.mailbox.mailboxId), [], "another tenant's mailbox")
        assert.deepStrictEqual(yield* store.list(yield* Fresh.id, {}, undefined, 10), [])
      })
    )

    it.effect("continues strictly after a position, even if no message has that position", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const createdAt = (yield* Sample.message(mailbox)).createdAt
        yield* Effect.forEach(Array.range(1, 4), () => Sample.stored(mailbox, { createdAt }))
        const all = yield* store.list(tenantId, {}, undefined, 10)
        const after = (position: { createdAt: number; id: string }) => store.list(tenantId, {}, position, 10)
        for (const [index, message] of all.entries()) {
          assert.deepStrictEqual(yield* after(positionOf(message)), all.slice(index + 1))
        }
        const { createdAt: moment, id } = positionOf(all[2]!)
        assert.deepStrictEqual(yield* after({ createdAt: moment + 1, id }), all)
        assert.deepStrictEqual(yield* after({ createdAt: moment - 1, id }), [])
      })
    )

    it.effect.prop(
      "returns every message once and in order when read page by page",
      {
        moments: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))).check(
          Schema.isMaxLength(12)
        ),
        limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })),
        ofOne: Schema.Boolean
      },
      ({ limit, moments, ofOne }) =>
        Effect.gen(function* () {
          const store = yield* MessageStore
          const { mailbox, tenant, tenantId } = yield* Mailboxes.owner
          const other = yield* Mailboxes.stored(tenant)
          const { createdAt } = yield* Sample.message(mailbox)
          const messages = yield* Effect.forEach(moments, (moment, index) =>
            Sample.message(index % 3 === 0 ? other : mailbox, { createdAt: Timestamp.add(createdAt, moment) })
          )
          yield* store.insert(messages.map((message) => Sample.fresh(message)))
          const load = (after: Position | undefined, size: number) =>
            store.list(tenantId, ofOne ? { mailboxId: mailbox.mailboxId } : {}, after, size)
          const pages = yield* readPages({ load, positionOf, limit, most: messages.length })
          const expected = messages.filter((message) => !ofOne || message.mailboxId === mailbox.mailboxId)
          assert.sameMembers(ids(pages).slice(), ids(expected).slice())
          for (const [index, message] of pages.slice(1).entries()) assert.isTrue(comesBefore(pages[index]!, message))
        }),
      propertyOptions(capabilities)
    )
  })
}

/** The contract tests of `MessageStore`. */
export const MessageStoreContract = defineContract<RetentionPorts>("MessageStore", (it, capabilities) => {
  insertTests(it, capabilities)
  findTests(it, capabilities)
  listTests(it, capabilities)
  threadTests(it, capabilities)
  threadListTests(it, capabilities)
  markTests(it, capabilities)
  filterTests(it, capabilities)
  messageRetentionTests(it, capabilities)
  suppressionTests(it, capabilities)
  suppressionListTests(it, capabilities)
  feedbackTests(it, capabilities)
  reportTests(it, capabilities)
  sendingTests(it, capabilities)
  messageOverlapTests(it, capabilities)
})
