import { Schema } from "effect"
import { IsoTimestamp, Timestamp, toIso } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { SenderPolicy } from "./SenderPolicy.ts"

/** A mailbox of a tenant. `displayName` and `outboundSignature` are null if they were not set. */
export const Mailbox = Schema.Struct({
  mailboxId: Uuid,
  tenantId: Uuid,
  /** Without a domain, in lower case. */
  localPart: Schema.String,
  address: Schema.String,
  displayName: Schema.NullOr(Schema.String),
  outboundSignature: Schema.NullOr(Schema.String),
  /** Only active mailboxes receive inbound mail. */
  active: Schema.Boolean,
  senderPolicy: SenderPolicy,
  createdAt: Timestamp,
  updatedAt: Timestamp
})
export type Mailbox = typeof Mailbox.Type

/** A mailbox as clients see it. */
export const MailboxRecord = Schema.Struct({
  mailboxId: Uuid,
  address: Schema.String,
  localPart: Schema.String,
  displayName: Schema.NullOr(Schema.String),
  outboundSignature: Schema.NullOr(Schema.String),
  active: Schema.Boolean,
  senderPolicy: SenderPolicy,
  createdAt: IsoTimestamp,
  updatedAt: IsoTimestamp
}).annotate({ identifier: "Mailbox" })
export type MailboxRecord = typeof MailboxRecord.Type

export const toMailboxRecord = (mailbox: Mailbox): MailboxRecord => ({
  mailboxId: mailbox.mailboxId,
  address: mailbox.address,
  localPart: mailbox.localPart,
  displayName: mailbox.displayName,
  outboundSignature: mailbox.outboundSignature,
  active: mailbox.active,
  senderPolicy: mailbox.senderPolicy,
  createdAt: toIso(mailbox.createdAt),
  updatedAt: toIso(mailbox.updatedAt)
})
