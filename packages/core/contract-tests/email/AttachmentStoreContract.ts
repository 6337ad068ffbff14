import { AttachmentStore, MailboxStore, type MessageStore, type TenantId, Timestamp } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import * as MailboxSample from "./MailboxSample.ts"
import * as MessageSample from "./MessageSample.ts"

const fileOf = (filename: string, content: Uint8Array) => ({
  filename,
  contentType: "application/octet-stream",
  contentBase64: Buffer.from(content).toString("base64")
})

/** Bytes of every value, so that no text encoding preserves them. */
const bytesOf = (length: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length }, (_, at) => (at * 7) % 256)

const sha256Of = (bytes: Uint8Array<ArrayBuffer>) =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", bytes)),
    (digest) => Buffer.from(digest).toString("hex")
  )

const staged = Effect.fnUntraced(function* (...contents: ReadonlyArray<Uint8Array>) {
  const store = yield* AttachmentStore
  const operationId = yield* Fresh.id
  yield* store.stage(
    operationId,
    contents.map((content, index) => fileOf(`file-${index}.bin`, content))
  )
  return operationId
})

const contentOf = Effect.fnUntraced(function* (tenantId: TenantId, messageId: string, index: number) {
  const store = yield* AttachmentStore
  const found = yield* store.read(tenantId, messageId, index)
  if (Option.isNone(found)) return undefined
  return Uint8Array.from(Buffer.concat(yield* Stream.runCollect(found.value.content)))
})

/** Attachments of a message of a new tenant. */
const assigned = Effect.fnUntraced(function* (...contents: ReadonlyArray<Uint8Array>) {
  const store = yield* AttachmentStore
  const { tenantId } = yield* Fresh.tenant
  const messageId = yield* Fresh.id
  const operationId = yield* staged(...contents)
  return { tenantId, messageId, operationId, attachments: yield* store.assign(operationId, tenantId, messageId) }
})

/** The contract tests of `AttachmentStore`. */
export const AttachmentStoreContract = defineContract<AttachmentStore | MailboxStore | MessageStore>(
  "AttachmentStore",
  (it) => {
    it.effect("returns the bytes of each attachment, of any size, and describes them in the order of staging", () =>
      Effect.gen(function* () {
        const contents = [bytesOf(0), bytesOf(1), bytesOf(3 * 65_536), bytesOf(3 * 65_536 + 1), bytesOf(1_000_000)]
        const { attachments, messageId, tenantId } = yield* assigned(...contents)
        const described = yield* Effect.forEach(contents, (content, index) =>
          Effect.map(sha256Of(content), (sha256) => ({
            filename: `file-${index}.bin`,
            contentType: "application/octet-stream",
            sizeBytes: content.length,
            sha256
          }))
        )
        assert.deepStrictEqual(attachments, described)
        for (const [index, content] of contents.entries()) {
          assert.deepStrictEqual(yield* contentOf(tenantId, messageId, index), content)
        }
      })
    )

    it.effect("returns nothing for another tenant, an unknown or malformed message, and an unknown index", () =>
      Effect.gen(function* () {
        const one = yield* assigned(bytesOf(5))
        const two = yield* assigned(bytesOf(6), bytesOf(7))
        assert.isUndefined(yield* contentOf(two.tenantId, one.messageId, 0))
        assert.isUndefined(yield* contentOf(one.tenantId, one.messageId, 1))
        assert.isUndefined(yield* contentOf(one.tenantId, yield* Fresh.id, 0))
        assert.isUndefined(yield* contentOf(one.tenantId, "nonsense", 0))
      })
    )

    it.effect("assigns staged attachments once, and never those of another operation", () =>
      Effect.gen(function* () {
        const store = yield* AttachmentStore
        const other = yield* staged(bytesOf(1))
        const { attachments, operationId, tenantId } = yield* assigned(bytesOf(2))
        assert.lengthOf(attachments, 1)
        assert.deepStrictEqual(yield* store.assign(operationId, tenantId, yield* Fresh.id), [])
        assert.lengthOf(yield* store.assign(other, tenantId, yield* Fresh.id), 1)
      })
    )

    it.effect("keeps them staged if the transaction that assigns them rolls back", () =>
      Effect.gen(function* () {
        const store = yield* AttachmentStore
        const { tenantId } = yield* Fresh.tenant
        const operationId = yield* staged(bytesOf(4))
        yield* rolledBack(store.assign(operationId, tenantId, yield* Fresh.id))
        assert.lengthOf(yield* store.assign(operationId, tenantId, yield* Fresh.id), 1)
      })
    )

    it.effect("discards staged attachments, and never assigned ones", () =>
      Effect.gen(function* () {
        const store = yield* AttachmentStore
        const { messageId, operationId, tenantId } = yield* assigned(bytesOf(3))
        yield* store.discard(operationId)
        assert.isDefined(yield* contentOf(tenantId, messageId, 0))
        const dropped = yield* staged(bytesOf(3))
        yield* store.discard(dropped)
        assert.deepStrictEqual(yield* store.assign(dropped, tenantId, yield* Fresh.id), [])
      })
    )

    it.effect("removes the attachments of one message", () =>
      Effect.gen(function* () {
        const store = yield* AttachmentStore
        const one = yield* assigned(bytesOf(3), bytesOf(4))
        const two = yield* assigned(bytesOf(5))
        yield* store.remove(one.messageId)
        yield* store.remove(one.messageId)
        assert.isUndefined(yield* contentOf(one.tenantId, one.messageId, 0))
        assert.isUndefined(yield* contentOf(one.tenantId, one.messageId, 1))
        assert.isDefined(yield* contentOf(two.tenantId, two.messageId, 0))
      })
    )

    it.effect("removes them with their mailbox", () =>
      Effect.gen(function* () {
        const { mailbox, tenantId } = yield* MailboxSample.owner
        const { messageId } = yield* MessageSample.stored(mailbox)
        const operationId = yield* staged(bytesOf(9))
        yield* (yield* AttachmentStore).assign(operationId, tenantId, messageId)
        yield* (yield* MailboxStore).remove(tenantId, mailbox.mailboxId)
        assert.isUndefined(yield* contentOf(tenantId, messageId, 0))
      })
    )

    it.effect("removes staged attachments by age, oldest first and within the limit, and never assigned ones", () =>
      Effect.gen(function* () {
        const store = yield* AttachmentStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const kept = yield* assigned(bytesOf(2))
        yield* staged(bytesOf(1), bytesOf(1))
        yield* clock.advance(Timestamp.DAY)
        const young = yield* staged(bytesOf(1))
        const removed: Array<number> = []
        do removed.push(yield* store.removeStaged({ age: Timestamp.DAY, limit: 1 }))
        while (removed.at(-1) === 1)
        assert.isAtLeast(removed.length, 3)
        assert.isDefined(yield* contentOf(kept.tenantId, kept.messageId, 0))
        assert.lengthOf(yield* store.assign(young, tenantId, yield* Fresh.id), 1)
      })
    )
  }
)
