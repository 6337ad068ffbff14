import { Context, Effect, Layer, Schema } from "effect"
import { InvalidRequest, invalid, type Issue } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import type { OperationContext, PaidService } from "../payment/PaidService.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { foldAddress } from "./EmailAddress.ts"
import { RECIPIENT_LIMIT, SendMessageInput } from "./EmailInput.ts"
import { EmailProvider, type OutgoingMail, type SendReceipt } from "./EmailProvider.ts"
import { MailboxStore } from "./MailboxStore.ts"
import { type Message, type Recipient, snippetOf, toMessageRecord } from "./Message.ts"
import { MessageStore } from "./MessageStore.ts"
import { ownedMailbox, remainingMailbox } from "./OwnedMailbox.ts"

/** The mail as it will be sent, fixed before the first attempt: above all its Message-ID. */
const Plan = Schema.Struct({
  messageId: Uuid.Uuid,
  messageIdHeader: Schema.String,
  from: Schema.Struct({ address: Schema.String, name: Schema.NullOr(Schema.String) }),
  signature: Schema.NullOr(Schema.String)
})
type Plan = typeof Plan.Type

/** Sends one email. A retry repeats it under the same Message-ID, by which receivers drop the copy. */
export class MessageSending extends Context.Service<MessageSending, PaidService<SendMessageInput, Plan, SendReceipt>>()(
  "@agentos/core/email/MessageSending"
) {
  static readonly layer = Layer.effect(
    MessageSending,
    Effect.gen(function* () {
      const mailboxes = yield* MailboxStore
      const messages = yield* MessageStore
      const provider = yield* EmailProvider

      const checkRecipients = Effect.fnUntraced(function* (tenantId: TenantId, input: SendMessageInput) {
        const listed = listRecipients(input)
        if (listed.length > RECIPIENT_LIMIT) {
          return yield* invalid("to", `at most ${RECIPIENT_LIMIT} recipients in to, cc and bcc together`)
        }
        const suppressed = new Set(
          yield* messages.findSuppressed(
            tenantId,
            listed.map(({ address }) => foldAddress(address))
          )
        )
        const issues: ReadonlyArray<Issue> = listed
          .filter(({ address }) => suppressed.has(foldAddress(address)))
          .map(({ address, path }) => ({
            path,
            message: `${address} is suppressed: it bounced or complained, and mail to it is refused`
          }))
        if (issues.length > 0) {
          return yield* new InvalidRequest({ message: "Some recipients can't be written to.", issues })
        }
      })

      const suppressBounced = (tenantId: TenantId, refused: SendReceipt["rejected"]) =>
        messages.suppress(
          tenantId,
          refused.filter(({ reason }) => isHardBounce(reason)).map(({ address }) => foldAddress(address)),
          "bounced"
        )

      return MessageSending.of({
        serviceId: "email.message.send",
        input: SendMessageInput,
        plan: Plan,
        retryFor: Timestamp.DAY,
        check: Effect.fnUntraced(function* (tenant, input) {
          const mailbox = yield* ownedMailbox(mailboxes, tenant, input.mailboxId)
          yield* checkRecipients(mailbox.tenantId, input)
        }),
        prepare: Effect.fnUntraced(function* ({ tenant }, input) {
          const mailbox = yield* ownedMailbox(mailboxes, tenant, input.mailboxId)
          yield* checkRecipients(tenant.tenantId, input)
          const messageId = yield* Uuid.next
          return {
            messageId,
            messageIdHeader: `<${messageId}@${provider.domain}>`,
            from: { address: mailbox.address, name: mailbox.displayName },
            signature: mailbox.outboundSignature
          }
        }),
        abandon: () => Effect.void,
        revalidate: ({ tenant }, _plan, input) => Effect.asVoid(remainingMailbox(mailboxes, tenant, input.mailboxId)),
        perform: (context, plan, input) =>
          Effect.tapError(provider.send(compose(context, plan, input)), ({ refused = [] }) =>
            suppressBounced(context.tenant.tenantId, refused)
          ),
        record: Effect.fnUntraced(function* (context, plan, input, receipt) {
          const message = sentMessage(context, plan, input, receipt)
          // A mailbox deleted while the mail was on its way takes no copy; the mail was sent all the same.
          yield* messages.insert([{ message, duplicateKey: null, inboundMailId: null }])
          yield* suppressBounced(context.tenant.tenantId, receipt.rejected)
          return { created: true, data: { message: toMessageRecord(message) } }
        })
      })
    })
  )
}

/**
 * Bad destination address, for good (RFC 3463, section 3.2: 5.1.x; 5.1.10 is of RFC 7505). 5.1.7 and 5.1.8 are about the
 * sender. It stands after the reply's own code; elsewhere, as in an IP address, such digits mean something else.
 */
const isHardBounce = (reason: string): boolean => /^5\d\d[ -]#?5\.1\.(?:[0-6]|10)\b/.test(reason)

interface ListedRecipient {
  readonly address: string
  readonly kind: Recipient["kind"]
  readonly path: string
}

/** Every recipient once, under the first of to, cc and bcc that names it. */
const listRecipients = (input: SendMessageInput): ReadonlyArray<ListedRecipient> => {
  const seen = new Set<string>()
  const list = (kind: Recipient["kind"], addresses: ReadonlyArray<string>) =>
    addresses.flatMap((address, index) => {
      const folded = foldAddress(address)
      if (seen.has(folded)) return []
      seen.add(folded)
      return [{ address, kind, path: `${kind}.${index}` }]
    })
  return [...list("to", input.to), ...list("cc", input.cc ?? []), ...list("bcc", input.bcc ?? [])]
}

const addressesOf = (input: SendMessageInput, kind: Recipient["kind"]): ReadonlyArray<string> =>
  listRecipients(input)
    .filter((recipient) => recipient.kind === kind)
    .map(({ address }) => address)

/** By hand: `/\n+$/` looks at each line break once for every one before it, which takes minutes in a text of a million. */
const withoutLastBreaks = (text: string): string => {
  let end = text.length
  while (text[end - 1] === "\n") end--
  return text.slice(0, end)
}

/** The signature is set off as RFC 3676, section 4.3, has it. */
const signed = (text: string, signature: string | null): string =>
  signature === null ? text : `${withoutLastBreaks(text)}\n\n-- \n${signature}\n`

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll("\n", "<br>\n")

const signedHtml = (html: string, signature: string | null): string => {
  if (signature === null) return html
  const block = `<br>\n<div>-- <br>\n${escapeHtml(signature)}</div>\n`
  // Not found in the text in lower case, where a letter as İ is longer and moves all that follows.
  const end = [...html.matchAll(/<\/body>/gi)].at(-1)?.index ?? html.length
  return html.slice(0, end) + block + html.slice(end)
}

const compose = ({ createdAt }: OperationContext, plan: Plan, input: SendMessageInput): OutgoingMail => ({
  messageIdHeader: plan.messageIdHeader,
  from: plan.from,
  to: addressesOf(input, "to"),
  cc: addressesOf(input, "cc"),
  bcc: addressesOf(input, "bcc"),
  subject: input.subject,
  text: signed(input.text, plan.signature),
  html: input.html === undefined ? null : signedHtml(input.html, plan.signature),
  date: createdAt
})

const sentMessage = (context: OperationContext, plan: Plan, input: SendMessageInput, receipt: SendReceipt): Message => {
  const mail = compose(context, plan, input)
  const reasons = new Map(receipt.rejected.map(({ address, reason }) => [foldAddress(address), reason]))
  const recipients = listRecipients(input).map(({ address, kind }): Recipient => {
    const reason = reasons.get(foldAddress(address))
    return { address, kind, status: reason === undefined ? "sent" : "failed", reason: reason ?? null }
  })
  return {
    messageId: plan.messageId,
    threadId: plan.messageId,
    mailboxId: input.mailboxId,
    tenantId: context.tenant.tenantId,
    direction: "outbound",
    from: plan.from.address,
    to: mail.to,
    cc: mail.cc,
    bcc: mail.bcc,
    subject: input.subject,
    snippet: snippetOf(mail.text),
    messageIdHeader: plan.messageIdHeader,
    inReplyTo: null,
    references: [],
    attachments: [],
    authentication: null,
    malformed: false,
    status: "sent",
    recipients,
    createdAt: context.createdAt,
    text: mail.text,
    html: mail.html
  }
}
