import { Context, Effect, type Option, type Stream } from "effect"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { Attachment } from "./Message.ts"

/** An attachment to store. Its content is valid base64, which the store decodes in pieces. */
export interface NewAttachment {
  readonly filename: string
  readonly contentType: string
  readonly contentBase64: string
}

export type StoredAttachment = Attachment & { readonly filename: string }

/** A stored attachment with its bytes, in pieces that are read on demand. */
export interface AttachmentContent {
  readonly attachment: StoredAttachment
  readonly content: Stream.Stream<Uint8Array>
}

/**
 * The port that stores the attachments of outbound messages.
 *
 * They are staged before an operation is claimed, and assigned to its message in the transaction of the claim. From then
 * on they exist until they are removed, with their message or because it was not sent.
 */
export class AttachmentStore extends Context.Service<
  AttachmentStore,
  {
    /** Stores the attachments of an operation that is about to be claimed, outside of any transaction. */
    readonly stage: (operationId: string, attachments: ReadonlyArray<NewAttachment>) => Effect.Effect<void>
    /** Deletes the attachments that were staged for the operation and not assigned. */
    readonly discard: (operationId: string) => Effect.Effect<void>
    /** Assigns the staged attachments to a message of the tenant. Returns their descriptions, in the order of `stage`. */
    readonly assign: (
      operationId: string,
      tenantId: TenantId,
      messageId: string
    ) => Effect.Effect<ReadonlyArray<StoredAttachment>>
    /**
     * Returns an attachment of a message of the tenant by its index, or none. The stream ends early if it is removed
     * meanwhile.
     */
    readonly read: (
      tenantId: TenantId,
      messageId: string,
      index: number
    ) => Effect.Effect<Option.Option<AttachmentContent>>
    /** Deletes the attachments that were assigned to the message. `MailboxStore.remove` does so too. */
    readonly remove: (messageId: string) => Effect.Effect<void>
    /**
     * Deletes up to `limit` attachments that were staged at least `age` milliseconds ago and not assigned, oldest
     * first. Returns how many it deleted.
     */
    readonly removeStaged: (given: { readonly age: number; readonly limit: number }) => Effect.Effect<number>
  }
>()("@agentos/core/email/AttachmentStore") {}
