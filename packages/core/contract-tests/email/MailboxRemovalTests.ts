import { type InboundMailStore, MailboxStore, MessageStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import * as Sample from "./MailboxSample.ts"
import * as Messages from "./MessageSample.ts"

/** Tests of `remove`. */
export const mailboxRemovalTests: ContractTests<MailboxStore | MessageStore | InboundMailStore> = (it) => {
  describe("remove", () => {
    it.effect("deletes the mailbox with its messages and returns their number", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const messages = yield* MessageStore
        const { mailbox, tenant, tenantId } = yield* Sample.owner
        const other = yield* Sample.stored(tenant)
        const kept = yield* Messages.stored(other)
        const deleted = yield* Effect.forEach(Array.range(1, 3), (n) =>
          Messages.stored(mailbox, n === 2 ? { direction: "outbound", authentication: null, status: "sent" } : {})
        )
        assert.strictEqual(yield* store.remove(tenantId, mailbox.mailboxId), 3)
        assert.deepStrictEqual(yield* store.find(tenantId, mailbox.mailboxId), { _tag: "Missing" })
        assert.deepStrictEqual(yield* store.list(tenantId), [other])
        assert.deepStrictEqual(yield* store.findActive([mailbox.localPart]), [])
        for (const { messageId } of deleted) {
          assert.deepStrictEqual(yield* messages.find(tenantId, messageId), { _tag: "Missing" })
        }
        assert.deepStrictEqual(yield* messages.list(tenantId, {}, undefined, 10), [Messages.summary(kept)])
        assert.deepStrictEqual(yield* messages.list(tenantId, { mailboxId: mailbox.mailboxId }, undefined, 10), [])
      })
    )

    it.effect("returns 0 for a mailbox without messages", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenantId } = yield* Sample.owner
        assert.strictEqual(yield* store.remove(tenantId, mailbox.mailboxId), 0)
      })
    )

    it.effect("returns undefined for a mailbox that is removed, unknown, or another tenant's", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const messages = yield* MessageStore
        const { mailbox, tenantId } = yield* Sample.owner
        const message = yield* Messages.stored(mailbox)
        const other = yield* Fresh.tenant
        assert.isUndefined(yield* store.remove(tenantId, yield* Fresh.id))
        assert.isUndefined(yield* store.remove(other.tenantId, mailbox.mailboxId))
        assert.deepStrictEqual(yield* store.list(tenantId), [mailbox])
        assert.deepStrictEqual(yield* messages.find(tenantId, message.messageId), { _tag: "Owned", value: message })
        assert.strictEqual(yield* store.remove(tenantId, mailbox.mailboxId), 1)
        assert.isUndefined(yield* store.remove(tenantId, mailbox.mailboxId))
      })
    )

    it.effect("succeeds for one of many concurrent calls", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenantId } = yield* Sample.owner
        yield* Messages.stored(mailbox)
        const answers = yield* Effect.forEach(Array.range(1, 6), () => store.remove(tenantId, mailbox.mailboxId), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          answers.filter((answer) => answer !== undefined),
          [1]
        )
      })
    )

    it.effect("deletes raw mail, but not before the last message in any mailbox that refers to it", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const one = yield* Sample.owner
        const two = yield* Sample.owner
        const shared = yield* Messages.addedMail()
        const own = yield* Messages.addedMail()
        const refer = (mailbox: typeof one.mailbox, { inboundMailId }: typeof own) =>
          Messages.stored(mailbox, {}, { inboundMailId })
        const [first, second, third] = [
          yield* refer(one.mailbox, shared),
          yield* refer(two.mailbox, shared),
          yield* refer(one.mailbox, own)
        ]
        yield* Effect.forEach([shared, own], Messages.completed)
        assert.strictEqual(yield* store.remove(one.tenantId, one.mailbox.mailboxId), 2)
        assert.strictEqual(yield* Messages.rawOf(second), Messages.latin1(shared.raw))
        assert.isUndefined(yield* Messages.rawOf(first))
        assert.isUndefined(yield* Messages.rawOf(third))
        assert.strictEqual(yield* store.remove(two.tenantId, two.mailbox.mailboxId), 1)
        assert.isUndefined(yield* Messages.rawOf(second))
      })
    )

    it.effect("forgets duplicate keys: a new mailbox with the local part starts empty", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenant, tenantId } = yield* Sample.owner
        const duplicateKey = yield* Fresh.word
        yield* Messages.stored(mailbox, {}, { duplicateKey })
        yield* store.remove(tenantId, mailbox.mailboxId)
        const again = yield* Sample.stored(tenant, { localPart: mailbox.localPart })
        yield* Messages.stored(again, {}, { duplicateKey })
        assert.strictEqual(yield* store.remove(tenantId, again.mailboxId), 1)
      })
    )

    it.effect("is undone with its transaction, messages and raw mail included", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const messages = yield* MessageStore
        const { mailbox, tenantId } = yield* Sample.owner
        const mail = yield* Messages.addedMail()
        const message = yield* Messages.stored(mailbox, {}, { inboundMailId: mail.inboundMailId })
        yield* Messages.completed(mail)
        yield* rolledBack(store.remove(tenantId, mailbox.mailboxId))
        assert.deepStrictEqual(yield* store.find(tenantId, mailbox.mailboxId), { _tag: "Owned", value: mailbox })
        assert.deepStrictEqual(yield* messages.find(tenantId, message.messageId), { _tag: "Owned", value: message })
        assert.strictEqual(yield* Messages.rawOf(message), Messages.latin1(mail.raw))
      })
    )
  })
}
