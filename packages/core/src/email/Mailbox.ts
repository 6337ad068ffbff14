import { Schema } from "effect"
import { Timestamp } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"

/** A mailbox of a tenant. `displayName` and `outboundSignature` are null where none was set. */
export const Mailbox = Schema.Struct({
  mailboxId: Uuid,
  tenantId: Uuid,
  /** Without a domain, in lower case. */
  localPart: Schema.String,
  address: Schema.String,
  displayName: Schema.NullOr(Schema.String),
  outboundSignature: Schema.NullOr(Schema.String),
  /** Inbound mail is matched to active mailboxes alone. */
  active: Schema.Boolean,
  createdAt: Timestamp,
  updatedAt: Timestamp
})
export type Mailbox = typeof Mailbox.Type
