import { Schema } from "effect"

/**
 * The reason why mail is refused: permanently, or, if a mailbox is full or receives too much mail, or if the sender
 * could not be checked, temporarily.
 */
export const InboundRefusal = Schema.Literals([
  "mailbox unknown",
  "tenant suspended",
  "mailbox full",
  "too much mail",
  "sender refused",
  "sender unchecked"
])
export type InboundRefusal = typeof InboundRefusal.Type

/** Why the SMTP server refuses a mail before `InboundMails` decides. */
export const ListenerRefusal = Schema.Literals([
  "header too large",
  "header malformed",
  "no single author",
  "message too large"
])
export type ListenerRefusal = typeof ListenerRefusal.Type

export type MailRefusal = InboundRefusal | ListenerRefusal

type Labeled<Refusal extends string> = Refusal extends `${infer First} ${infer Rest}`
  ? `${First}_${Labeled<Rest>}`
  : Refusal

/** A reason as the metric and the records of mailboxes name it: `mailbox_full`. */
export type RefusalLabel = Labeled<MailRefusal>

export const refusalLabel = (refusal: MailRefusal): RefusalLabel => refusal.replaceAll(" ", "_") as RefusalLabel

/** The reasons for which mail to an existing mailbox is refused, with their descriptions. */
const DESCRIPTIONS = {
  header_malformed: "The header could not be read.",
  header_too_large: "The header was too large.",
  mailbox_full: "The mailbox, or all mailboxes of the wallet together, had no room.",
  message_too_large: "The mail was too large.",
  no_single_author: "From did not name exactly one address for certain.",
  sender_refused: "The sender policy of the mailbox does not admit the sender.",
  sender_unchecked: "The sender policy needed a check of the sender that could not be made at the time.",
  tenant_suspended: "The wallet was suspended.",
  too_much_mail: "The sender, its network or the mailbox exceeded an hourly limit of mail."
} as const satisfies Readonly<Record<Exclude<RefusalLabel, "mailbox_unknown">, string>>

export type CountedRefusal = keyof typeof DESCRIPTIONS

const reasons = Object.keys(DESCRIPTIONS) as ReadonlyArray<CountedRefusal>

export const isCountedRefusal: (label: RefusalLabel) => label is CountedRefusal = Schema.is(Schema.Literals(reasons))

const counted = (description: string) => Schema.optionalKey(Schema.Int.annotate({ description }))

/** How often mail to a mailbox was refused, by reason. Reasons that never applied are omitted. */
export const RefusedMails = Schema.Struct({
  header_malformed: counted(DESCRIPTIONS.header_malformed),
  header_too_large: counted(DESCRIPTIONS.header_too_large),
  mailbox_full: counted(DESCRIPTIONS.mailbox_full),
  message_too_large: counted(DESCRIPTIONS.message_too_large),
  no_single_author: counted(DESCRIPTIONS.no_single_author),
  sender_refused: counted(DESCRIPTIONS.sender_refused),
  sender_unchecked: counted(DESCRIPTIONS.sender_unchecked),
  tenant_suspended: counted(DESCRIPTIONS.tenant_suspended),
  too_much_mail: counted(DESCRIPTIONS.too_much_mail)
})
export type RefusedMails = typeof RefusedMails.Type

/** Returns the sums of two counts, by reason. */
export const addRefused = (first: RefusedMails, second: RefusedMails): RefusedMails =>
  Object.fromEntries(
    reasons.flatMap((reason) => {
      const count = (first[reason] ?? 0) + (second[reason] ?? 0)
      return count === 0 ? [] : [[reason, count] as const]
    })
  )
