import { AttachmentStore, type NewAttachment, type StoredAttachment, Uuid } from "@agentos/core"
import { Effect, Layer, Option, Stream } from "effect"
import { createHash } from "node:crypto"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const ATTACHMENTS = Table.table("sent_attachments", {
  filename: Table.text("filename"),
  contentType: Table.text("content_type"),
  sizeBytes: Table.long("size_bytes"),
  sha256: Table.text("sha256")
})

type AttachmentRow = Table.Stored<typeof ATTACHMENTS> & { readonly attachment_id: string }

const toAttachment: (row: AttachmentRow) => StoredAttachment = ATTACHMENTS.toRecord

/** Decodes to 192 KiB. A multiple of four, so that each piece is decoded separately. */
const PIECE_CHARACTERS = 256 * 1024

export const layer: Layer.Layer<AttachmentStore, never, Database> = Layer.effect(
  AttachmentStore,
  Effect.gen(function* () {
    const { sql } = yield* Database
    const { now } = yield* storeClock
    const columns = sql.literal(`attachment_id, ${ATTACHMENTS.columns}`)

    const stageOne = Effect.fnUntraced(function* (operationId: string, attachment: NewAttachment, position: number) {
      const { contentBase64, contentType, filename } = attachment
      const attachmentId = Parameter.uuid(yield* Uuid.next)
      const hash = createHash("sha256")
      let sizeBytes = 0
      yield* sql`
        insert into sent_attachments ${Table.insert(sql, {
          attachment_id: attachmentId,
          operation_id: Parameter.uuid(operationId),
          position: Parameter.integer(position),
          ...Table.valuesOf(ATTACHMENTS.fields, { filename, contentType, sizeBytes: 0, sha256: "" }),
          staged_at: sql`${now()}`
        })}`
      for (let start = 0; start < contentBase64.length; start += PIECE_CHARACTERS) {
        const bytes = Buffer.from(contentBase64.slice(start, start + PIECE_CHARACTERS), "base64")
        hash.update(bytes)
        sizeBytes += bytes.length
        yield* sql`
          insert into sent_attachment_pieces (attachment_id, position, bytes)
          values (${attachmentId}, ${Parameter.integer(start / PIECE_CHARACTERS)}, ${Parameter.bytes(bytes)})`
        // An embedded database answers without yielding to the event loop, so writing the pieces would block all else.
        yield* Effect.yieldNow
      }
      yield* sql`
        update sent_attachments
        set ${Table.set(sql, Table.changesOf(ATTACHMENTS.fields, { sizeBytes, sha256: hash.digest("hex") }))}
        where attachment_id = ${attachmentId}`
    })

    const assign = (operationId: string, tenantId: string, messageId: string) => sql<AttachmentRow>`
      with assigned as (
        update sent_attachments
        set tenant_id = ${Parameter.uuid(tenantId)}, message_id = ${Parameter.uuid(messageId)}
        where operation_id = ${Parameter.uuid(operationId)} and message_id is null
        returning ${columns}, position
      )
      select ${columns} from assigned order by position`

    const readPieces = (attachmentId: string): Stream.Stream<Uint8Array> =>
      Stream.paginate(0, (position) =>
        Effect.map(
          orDie(sql<{ readonly bytes: Uint8Array }>`
            select bytes from sent_attachment_pieces
            where attachment_id = ${Parameter.uuid(attachmentId)} and position = ${Parameter.integer(position)}`),
          ([row]) => (row === undefined ? [[], Option.none()] : [[row.bytes], Option.some(position + 1)])
        )
      )

    const content = Row.first((row: AttachmentRow) => ({
      attachment: toAttachment(row),
      content: readPieces(row.attachment_id)
    }))

    return AttachmentStore.of({
      stage: (operationId, attachments) =>
        orDie(
          Effect.forEach(attachments, (attachment, position) => stageOne(operationId, attachment, position), {
            discard: true
          })
        ),
      discard: (operationId) =>
        Row.run(
          sql`delete from sent_attachments where operation_id = ${Parameter.uuid(operationId)} and message_id is null`
        ),
      assign: (operationId, tenantId, messageId) => Row.all(toAttachment)(assign(operationId, tenantId, messageId)),
      read: (tenantId, messageId, index) =>
        content(sql<AttachmentRow>`
          select ${columns} from sent_attachments
          where message_id = ${Parameter.uuid(messageId)} and position = ${Parameter.integer(index)}
            and tenant_id = ${Parameter.uuid(tenantId)}`),
      remove: (messageId) => Row.run(sql`delete from sent_attachments where message_id = ${Parameter.uuid(messageId)}`),
      removeStaged: ({ age, limit }) =>
        Row.count(sql`
          with old as materialized (
            select attachment_id from sent_attachments
            where message_id is null and staged_at <= (select ${now()}) - ${Parameter.integer(age)}
            order by staged_at, attachment_id limit ${Parameter.integer(limit)}
            for update skip locked
          )
          delete from sent_attachments where attachment_id = any(array(select attachment_id from old))
          returning attachment_id`)
    })
  })
)
