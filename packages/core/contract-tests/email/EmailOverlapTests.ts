import { MailboxStore, MessageStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Messages from "./MessageSample.ts"

/** Tests of overlapping transactions on one local part or mailbox. */
export const mailboxOverlapTests: ContractTests<MailboxStore | MessageStore> = (it, capabilities) => {
  describe("two transactions on one local part", () => {
    it.effect("reserve it for one: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const localPart = yield* Fresh.word
          const answers = yield* overlapping(capabilities, {
            first: store.reserve(localPart, one.tenantId, yield* Fresh.id),
            second: store.reserve(localPart, two.tenantId, yield* Fresh.id),
            firstEnds
          })
          assert.deepStrictEqual(answers, ["reserved", firstEnds === "committed" ? "taken" : "reserved"])
        }
      })
    )

    it.effect("leave it with its owner if its reservation is released while the mailbox is created", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const [tenant, other] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        const mailbox = yield* Mailboxes.mailbox(tenant)
        const operationId = yield* Fresh.id
        yield* store.reserve(mailbox.localPart, tenant.tenantId, operationId)
        yield* overlapping(capabilities, {
          first: store.create(mailbox, operationId),
          second: store.release(operationId),
          firstEnds: "committed"
        })
        assert.deepStrictEqual(yield* store.findActive([mailbox.localPart]), [mailbox])
        yield* store.remove(tenant.tenantId, mailbox.mailboxId)
        assert.isFalse(yield* store.isAvailable(mailbox.localPart, other.tenantId))
      })
    )
  })

  describe("two transactions on one mailbox", () => {
    it.effect("remove it once", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        yield* Messages.stored(mailbox)
        const remove = store.remove(tenantId, mailbox.mailboxId)
        const answers = yield* overlapping(capabilities, { first: remove, second: remove, firstEnds: "committed" })
        assert.deepStrictEqual(answers, [1, undefined])
      })
    )

    it.effect("store no message in it if it is removed, and all of them if it is not", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const { mailbox, tenantId } = yield* Mailboxes.owner
          const message = yield* Messages.message(mailbox)
          const [, stored] = yield* overlapping(capabilities, {
            first: store.remove(tenantId, mailbox.mailboxId),
            second: Messages.inserted(message),
            firstEnds
          })
          assert.strictEqual(stored, firstEnds === "committed" ? 0 : 1)
        }
      })
    )

    it.effect("remove it with the message that the other was storing", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const messages = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const message = yield* Messages.message(mailbox)
        const [stored, removed] = yield* overlapping(capabilities, {
          first: Messages.inserted(message),
          second: store.remove(tenantId, mailbox.mailboxId),
          firstEnds: "committed"
        })
        assert.deepStrictEqual([stored, removed], [1, 1])
        assert.deepStrictEqual(yield* messages.find(tenantId, message.messageId), { _tag: "Missing" })
      })
    )

    it.effect("do not update it if it is removed", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const [, updated] = yield* overlapping(capabilities, {
          first: store.remove(tenantId, mailbox.mailboxId),
          second: store.update({ ...mailbox, displayName: "late" }),
          firstEnds: "committed"
        })
        assert.isFalse(updated)
        assert.deepStrictEqual(yield* store.list(tenantId), [])
      })
    )
  })
}

/** Tests of overlapping transactions on the messages or suppressions of a tenant. */
export const messageOverlapTests: ContractTests<MailboxStore | MessageStore> = (it, capabilities) => {
  describe("two transactions on one mailbox's messages", () => {
    it.effect("store one of two copies: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const { mailbox } = yield* Mailboxes.owner
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const duplicateKey = yield* Fresh.word
          const [one, two] = yield* Effect.all([Messages.message(mailbox), Messages.message(mailbox)])
          const stored = yield* overlapping(capabilities, {
            first: Messages.inserted(one, { duplicateKey }),
            second: Messages.inserted(two, { duplicateKey }),
            firstEnds
          })
          assert.deepStrictEqual(stored, [1, firstEnds === "committed" ? 0 : 1])
        }
      })
    )

    it.effect("suppress the same addresses in any order", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { tenantId } = yield* Fresh.tenant
        const [a, b] = yield* Effect.all([Fresh.word, Fresh.word])
        yield* overlapping(capabilities, {
          first: store.suppress(tenantId, [a, b], "bounced"),
          second: store.suppress(tenantId, [b, a], "complained"),
          firstEnds: "committed"
        })
        assert.sameMembers([...(yield* store.findSuppressed(tenantId, [a, b]))], [a, b])
      })
    )
  })
}
