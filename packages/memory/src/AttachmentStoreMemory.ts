import { AttachmentStore, type StoredAttachment, Timestamp, Uuid } from "@agentos/core"
import { Effect, Layer, Option, Stream } from "effect"
import { createHash } from "node:crypto"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { type AttachmentRow, removeAttachments } from "./Tables.ts"

/** Attachments of outbound messages in memory. */
export const layer = Layer.effect(
  AttachmentStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { sentAttachments } = tables
    const staged = (operationId: string): ReadonlyArray<AttachmentRow> =>
      sentAttachments.where("staged", operationId).toSorted((a, b) => a.position - b.position)

    return AttachmentStore.of({
      stage: Effect.fnUntraced(function* (operationId, attachments) {
        const rows = yield* Effect.forEach(attachments, ({ contentBase64, contentType, filename }, position) =>
          Effect.map(Uuid.next, (id) => {
            const content = new Uint8Array(Buffer.from(contentBase64, "base64"))
            const sha256 = createHash("sha256").update(content).digest("hex")
            const attachment: StoredAttachment = { filename, contentType, sizeBytes: content.length, sha256 }
            return { id, attachment, content, operationId, position, owner: null }
          })
        )
        yield* run((now) => {
          for (const row of rows) sentAttachments.set(row.id, { ...row, stagedAt: now })
        })
      }),
      discard: (operationId) =>
        run(() => {
          for (const { id } of staged(operationId)) sentAttachments.delete(id)
        }),
      assign: (operationId, tenantId, messageId) =>
        run(() =>
          staged(operationId).map((row) => {
            sentAttachments.set(row.id, { ...row, owner: { tenantId, messageId } })
            return row.attachment
          })
        ),
      read: (tenantId, messageId, index) =>
        run(() => {
          const row = sentAttachments
            .where("message", messageId)
            .find(({ owner, position }) => position === index && owner?.tenantId === tenantId)
          return row === undefined
            ? Option.none()
            : Option.some({ attachment: row.attachment, content: Stream.make(row.content) })
        }),
      remove: (messageId) => run(() => removeAttachments(tables, messageId)),
      removeStaged: ({ age, limit }) =>
        run((now) => {
          const old = sentAttachments
            .rows()
            .filter(({ owner, stagedAt }) => owner === null && Timestamp.add(stagedAt, age) <= now)
            .toSorted((a, b) => a.stagedAt - b.stagedAt)
            .slice(0, limit)
          for (const { id } of old) sentAttachments.delete(id)
          return old.length
        })
    })
  })
)
