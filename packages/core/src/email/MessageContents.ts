import { Context, Effect, Layer, Option, Stream } from "effect"
import { orFail } from "../kernel/Lookup.ts"
import { ContentNotStored, ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { AttachmentStore } from "./AttachmentStore.ts"
import { InboundMailStore } from "./InboundMail.ts"
import { type Attachment, attachmentIdOf, type AttachmentSource, type Message } from "./Message.ts"
import { MessageStore } from "./MessageStore.ts"
import { sourceDecoder } from "./TransferEncoding.ts"

/** Bytes that a sender chose: neither they, nor the type and name that it gave them, can be trusted. */
export interface MessageContent {
  readonly filename: string | null
  readonly contentType: string
  readonly sizeBytes: number
  /** The same for the same bytes. */
  readonly version: string
  /** Reads the bytes on demand, in pieces of at most 256 KiB. Dies if they are deleted before the end. */
  readonly bytes: Stream.Stream<Uint8Array>
}

type ContentError = ResourceNotFound | ResourceNotOwned | ContentNotStored

/** The stored bytes of messages: attachments, and the raw form of received messages. */
export class MessageContents extends Context.Service<
  MessageContents,
  {
    readonly openRaw: (tenant: Tenant, messageId: string) => Effect.Effect<MessageContent, ContentError>
    readonly openAttachment: (
      tenant: Tenant,
      messageId: string,
      attachmentId: string
    ) => Effect.Effect<MessageContent, ContentError>
  }
>()("@agentos/core/email/MessageContents") {
  static readonly layer = Layer.effect(
    MessageContents,
    Effect.gen(function* () {
      const messages = yield* MessageStore
      const mails = yield* InboundMailStore
      const attachments = yield* AttachmentStore

      const findMessage = ({ tenantId }: Tenant, messageId: string) =>
        Effect.flatMap(messages.find(tenantId, messageId), (found) => orFail(found, "message", messageId))

      const findRaw = Effect.fnUntraced(function* ({ direction, messageId, tenantId }: Message) {
        if (direction === "outbound") return yield* notRaw
        return (yield* mails.findRaw(tenantId, messageId)) ?? (yield* rawDeleted)
      })

      const readReceived = Effect.fnUntraced(function* (message: Message, { source }: Attachment) {
        const { inboundMailId } = yield* findRaw(message)
        if (source === undefined) return yield* notLocated
        const { encodedBytes, offset } = source
        return decoded(mails.readPieces(inboundMailId, { offset, bytes: encodedBytes }), source)
      })

      const readSent = Effect.fnUntraced(function* ({ messageId, tenantId }: Message, index: number) {
        const found = yield* attachments.read(tenantId, messageId, index)
        return Option.isSome(found) ? found.value.content : yield* sentDeleted
      })

      return MessageContents.of({
        openRaw: Effect.fnUntraced(function* (tenant, messageId) {
          const { inboundMailId, sizeBytes } = yield* findRaw(yield* findMessage(tenant, messageId))
          return {
            filename: `${messageId}.eml`,
            contentType: "message/rfc822",
            sizeBytes,
            version: inboundMailId,
            bytes: complete(mails.readPieces(inboundMailId), sizeBytes)
          }
        }),
        openAttachment: Effect.fnUntraced(function* (tenant, messageId, attachmentId) {
          const message = yield* findMessage(tenant, messageId)
          const index = message.attachments.findIndex((_, at) => attachmentIdOf(messageId, at) === attachmentId)
          const attachment = message.attachments[index]
          if (attachment === undefined) return yield* new ResourceNotFound({ kind: "attachment", id: attachmentId })
          const { contentType, filename, sha256, sizeBytes } = attachment
          const bytes = yield* message.direction === "outbound"
            ? readSent(message, index)
            : readReceived(message, attachment)
          return { filename, contentType, sizeBytes, version: sha256, bytes: complete(bytes, sizeBytes) }
        })
      })
    })
  )
}

const notRaw = new ContentNotStored({
  message: "The message was sent from here, so it has no raw form. Its text, html and recipients are in the message"
})
const rawDeleted = new ContentNotStored({
  message:
    "The raw mail was deleted, because this server keeps raw mail for a limited time. The text and html of the message remain"
})
const sentDeleted = new ContentNotStored({ message: "The attachment was deleted with its message" })
const notLocated = new ContentNotStored({
  message:
    "The attachment was received by an older version of this server, which did not record its place. Read the raw message instead"
})

const decoded = (encoded: Stream.Stream<Uint8Array>, source: AttachmentSource): Stream.Stream<Uint8Array> =>
  Stream.suspend(() => {
    const decoder = sourceDecoder(source)
    return Stream.concat(
      Stream.map(encoded, decoder.decode),
      Stream.suspend(() => Stream.succeed(decoder.end()))
    )
  })

/** Dies at the end of a stream with fewer bytes, so that a client cannot mistake a part for the whole. */
const complete = (bytes: Stream.Stream<Uint8Array>, sizeBytes: number): Stream.Stream<Uint8Array> =>
  Stream.suspend(() => {
    let readBytes = 0
    const check = Effect.suspend(() =>
      readBytes === sizeBytes
        ? Effect.void
        : Effect.die(new Error(`stored content has ${readBytes} bytes instead of ${sizeBytes}`))
    )
    return Stream.concat(
      Stream.map(bytes, (piece) => {
        readBytes += piece.length
        return piece
      }),
      Stream.drain(Stream.fromEffect(check))
    )
  })
