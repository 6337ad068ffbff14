import { Schema } from "effect"
import { nameText, plainText } from "../kernel/PlainText.ts"

/** The maximum number of keys of one mailbox. */
export const METADATA_LIMIT = 20
export const METADATA_KEY_CHARACTERS = 40
export const METADATA_VALUE_CHARACTERS = 500

/** Data of the owner of a mailbox, which the service only stores. */
export const MailboxMetadata = Schema.Record(Schema.String, Schema.String)
export type MailboxMetadata = typeof MailboxMetadata.Type

const isKey = Schema.is(nameText(METADATA_KEY_CHARACTERS).check(Schema.isMinLength(1)))

/** Changes of the data by key. An empty value, or null, deletes the key. */
export const MailboxMetadataInput = Schema.Record(
  Schema.String,
  Schema.NullOr(plainText(METADATA_VALUE_CHARACTERS))
).check(
  Schema.isMaxProperties(METADATA_LIMIT, { message: `must have at most ${METADATA_LIMIT} keys` }),
  Schema.makeFilter(
    (changes: Readonly<Record<string, unknown>>) =>
      Object.keys(changes).every(isKey) ||
      `must have keys of 1 to ${METADATA_KEY_CHARACTERS} characters, without invisible ones`
  )
)
export type MailboxMetadataInput = typeof MailboxMetadataInput.Type

/** Returns the data after the changes. */
export const changeMetadata = (metadata: MailboxMetadata, changes: MailboxMetadataInput = {}): MailboxMetadata => {
  const changed = new Map<string, string | null>([...Object.entries(metadata), ...Object.entries(changes)])
  const entries = [...changed].flatMap(([key, value]) =>
    value === null || value === "" ? [] : [[key, value] as const]
  )
  return Object.fromEntries(entries)
}

export const hasRoomForMetadata = (metadata: MailboxMetadata, changes?: MailboxMetadataInput): boolean =>
  Object.keys(changeMetadata(metadata, changes)).length <= METADATA_LIMIT
