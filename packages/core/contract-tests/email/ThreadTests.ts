import { type MailboxStore, MessageStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Sample from "./MessageSample.ts"

/** Tests of `findThreads`. */
export const threadTests: ContractTests<MailboxStore | MessageStore> = (it) => {
  describe("findThreads", () => {
    it.effect("returns for each mailbox the thread of its newest message with one of the given Message-IDs", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenant } = yield* Mailboxes.owner
        const other = yield* Mailboxes.owner
        const silent = yield* Mailboxes.stored(tenant)
        const [a, b, c] = yield* Effect.all([Fresh.word, Fresh.word, Fresh.word])
        const { createdAt } = yield* Sample.message(mailbox)
        const thread = Effect.map(Fresh.id, (threadId) => ({ threadId }))
        const older = yield* Sample.stored(mailbox, {
          ...(yield* thread),
          messageIdHeader: a,
          createdAt: Timestamp.add(createdAt, -1_000)
        })
        const newer = yield* Sample.stored(mailbox, {
          ...(yield* thread),
          messageIdHeader: b,
          createdAt,
          direction: "outbound"
        })
        const foreign = yield* Sample.stored(other.mailbox, { ...(yield* thread), messageIdHeader: a })
        yield* Sample.stored(mailbox, {
          ...(yield* thread),
          messageIdHeader: null,
          createdAt: Timestamp.add(createdAt, 1_000)
        })
        const boxes = [mailbox.mailboxId, silent.mailboxId, other.mailbox.mailboxId, yield* Fresh.id]
        const find = (...headers: ReadonlyArray<string>) => store.findThreads(boxes, headers)
        assert.deepStrictEqual(
          yield* find(a, b, c),
          new Map([
            [mailbox.mailboxId, newer.threadId],
            [other.mailbox.mailboxId, foreign.threadId]
          ])
        )
        assert.deepStrictEqual(
          yield* find(a, a),
          new Map([
            [mailbox.mailboxId, older.threadId],
            [other.mailbox.mailboxId, foreign.threadId]
          ])
        )
        assert.deepStrictEqual(yield* find(b), new Map([[mailbox.mailboxId, newer.threadId]]))
        assert.deepStrictEqual(yield* find(c), new Map())
        assert.deepStrictEqual(
          yield* store.findThreads([other.mailbox.mailboxId, other.mailbox.mailboxId], [a]),
          new Map([[other.mailbox.mailboxId, foreign.threadId]])
        )
      })
    )

    it.effect("is complemented by the ids of relays, stored with the message or after a retry, in any case", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenant } = yield* Mailboxes.owner
        const [a, b, c] = yield* Effect.all([Fresh.word, Fresh.word, Fresh.word])
        const sent = yield* Sample.stored(mailbox, { direction: "outbound", relayIds: [a] })
        const named = (relayId: string) =>
          Effect.map(store.list(tenant.tenantId, { mailboxId: mailbox.mailboxId, relayId }, undefined, 2), (found) =>
            found.map(({ messageId }) => messageId)
          )
        const { recipients, status } = sent
        yield* store.setOutcome(sent.messageId, { recipients, status, relayIds: [b] })
        yield* store.setOutcome(sent.messageId, { recipients, status })
        assert.deepStrictEqual(yield* Effect.forEach([a, b.toUpperCase(), c], named), [
          [sent.messageId],
          [sent.messageId],
          []
        ])
        const found = yield* store.find(tenant.tenantId, sent.messageId)
        assert.deepStrictEqual(found._tag === "Owned" ? found.value.relayIds : undefined, [a, b])
      })
    )

    it.effect("returns nothing without mailboxes, and without headers", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox } = yield* Mailboxes.owner
        const message = yield* Sample.stored(mailbox)
        assert.deepStrictEqual(yield* store.findThreads([], [message.messageIdHeader!]), new Map())
        assert.deepStrictEqual(yield* store.findThreads([mailbox.mailboxId], []), new Map())
        assert.deepStrictEqual(yield* store.findThreads([], []), new Map())
      })
    )

    it.effect("compares a Message-ID literally, however long or unusual", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox } = yield* Mailboxes.owner
        const long = (yield* Effect.forEach(Array.range(1, 200), () => Fresh.id)).join("")
        for (const header of [long, ...AWKWARD_TEXTS]) {
          const { threadId } = yield* Sample.stored(mailbox, {
            threadId: yield* Fresh.id,
            messageIdHeader: header
          })
          assert.deepStrictEqual(
            yield* store.findThreads([mailbox.mailboxId], [header]),
            new Map([[mailbox.mailboxId, threadId]])
          )
        }
        for (const like of [long.toUpperCase(), long.slice(1), `${long} `, "%", "_ull"]) {
          assert.deepStrictEqual(yield* store.findThreads([mailbox.mailboxId], [like]), new Map())
        }
      })
    )
  })
}
