import { Schema, Struct } from "effect"
import { IsoTimestamp, Timestamp, toIso } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { baseLocalPart, isAt, splitAddress } from "./EmailAddress.ts"
import type { UpdateMailboxInput } from "./EmailInput.ts"
import { changeMetadata, MailboxMetadata } from "./MailboxMetadata.ts"
import { RefusedMails } from "./RefusedMail.ts"
import * as SenderPolicy from "./SenderPolicy.ts"

/** The fields that clients see as they are stored. */
const shared = {
  mailboxId: Uuid.annotateKey({ description: "Id of the mailbox." }),
  address: Schema.String.annotateKey({ description: "The complete address, in lower case." }),
  localPart: Schema.String.annotateKey({ description: "The part of the address before the @, in lower case." }),
  displayName: Schema.NullOr(Schema.String).annotateKey({
    description: "Name that recipients see next to the address; null if none is set."
  }),
  outboundSignature: Schema.NullOr(Schema.String).annotateKey({
    description: "Text appended to every sent message; null if none is set."
  }),
  active: Schema.Boolean.annotateKey({
    description: "Whether the mailbox receives mail. Mail to an inactive mailbox is rejected."
  }),
  senderPolicy: SenderPolicy.SenderPolicy.annotateKey({
    description: "The senders from which the mailbox receives mail."
  }),
  metadata: MailboxMetadata.annotateKey({ description: "Your own data on the mailbox, by key." }),
  refused: RefusedMails.annotateKey({
    description:
      "How often mail to the mailbox was refused, by reason; empty if it never was. A repeated attempt counts again. " +
      "Counts appear within seconds; a server that is killed loses those of its last seconds."
  })
}
const SHARED = Struct.keys(shared)

export const Mailbox = Schema.Struct({ ...shared, tenantId: Uuid, createdAt: Timestamp, updatedAt: Timestamp })
export type Mailbox = typeof Mailbox.Type

/** A mailbox as clients see it. */
export const MailboxRecord = Schema.Struct({
  ...shared,
  createdAt: IsoTimestamp.annotateKey({ description: "When the mailbox was created." }),
  updatedAt: IsoTimestamp.annotateKey({ description: "When the mailbox was last changed." })
}).annotate({ identifier: "Mailbox" })
export type MailboxRecord = typeof MailboxRecord.Type

export const toMailboxRecord = (mailbox: Mailbox): MailboxRecord => ({
  ...Struct.pick(mailbox, SHARED),
  createdAt: toIso(mailbox.createdAt),
  updatedAt: toIso(mailbox.updatedAt)
})

/** Returns whether mail to an address arrives in the mailbox. */
export const isAddressOf = (
  { address: own, localPart }: Pick<Mailbox, "address" | "localPart">,
  address: string
): boolean => {
  const named = splitAddress(address)
  return isAt(own, named.domain) && baseLocalPart(named.localPart) === localPart
}

/** The fields that the owner of a mailbox sets. */
export type MailboxSettings = Omit<UpdateMailboxInput, "mailboxId">

/** Changes the settings of a mailbox. Omitted ones stay as they are; an empty text clears the field. */
export const changeMailbox = (mailbox: Mailbox, settings: MailboxSettings, updatedAt: Timestamp): Mailbox => ({
  ...mailbox,
  displayName: settings.displayName === undefined ? mailbox.displayName : settings.displayName || null,
  outboundSignature:
    settings.outboundSignature === undefined ? mailbox.outboundSignature : settings.outboundSignature || null,
  active: settings.active ?? mailbox.active,
  senderPolicy:
    settings.senderPolicy === undefined ? mailbox.senderPolicy : SenderPolicy.fromInput(settings.senderPolicy),
  metadata: changeMetadata(mailbox.metadata, settings.metadata),
  updatedAt
})

/** Returns a new mailbox. Without settings, it is active, receives mail from anyone, and has no name and no signature. */
export const newMailbox = (
  {
    createdAt,
    domain,
    localPart,
    mailboxId,
    tenantId
  }: Pick<Mailbox, "mailboxId" | "tenantId" | "localPart" | "createdAt"> & { readonly domain: string },
  settings: MailboxSettings = {}
): Mailbox =>
  changeMailbox(
    {
      mailboxId,
      tenantId,
      address: `${localPart}@${domain}`,
      localPart,
      displayName: null,
      outboundSignature: null,
      active: true,
      senderPolicy: SenderPolicy.ANYONE,
      metadata: {},
      refused: {},
      createdAt,
      updatedAt: createdAt
    },
    settings,
    createdAt
  )
