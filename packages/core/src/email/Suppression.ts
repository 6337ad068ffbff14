import { Effect } from "effect"
import * as Lookup from "../kernel/Lookup.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { foldAddress, isAt, splitAddress } from "./EmailAddress.ts"
import type { MailPolicy } from "./MailPolicy.ts"
import type { MessageSummary } from "./Message.ts"
import type { MessageFilter, MessageStore } from "./MessageStore.ts"
import * as SendingQuota from "./SendingQuota.ts"

/** Limit of received messages, newest first, in which a person is searched: by that author, and in the thread. */
const LOOKUP_LIMIT = 50

/** What is suppressed, and by whose word. */
interface Feedback {
  readonly message: Pick<MessageSummary, "answers" | "messageId" | "tenantId" | "threadId">
  /** Folded. */
  readonly addresses: ReadonlyArray<string>
  readonly reason: SendingQuota.PauseReason
  /** Whether a configured reporter complained, rather than the recipient itself or its server. */
  readonly isReporter: boolean
}

/**
 * Returns the last two labels of the domain. Domains under a public suffix of two labels then count as one: too few
 * rather than too many.
 */
const siteOf = (address: string): string => `@${splitAddress(address).domain.split(".").slice(-2).join(".")}`

/**
 * Returns those who count towards a pause. A person who wrote to the tenant, or was a recipient of mail that the tenant
 * answers, does not: otherwise strangers could stop the tenant by writing to it. Only mail that failed DMARC proves no
 * such person, since it may be forged to evade a pause; whom it names counts once for each domain. So does everyone who
 * complains without a configured reporter, because a stranger can have any number of addresses.
 */
const reportersOf = Effect.fnUntraced(function* (
  messages: MessageStore["Service"],
  { addresses, isReporter, message: { answers, tenantId, threadId }, reason }: Feedback
) {
  if (isReporter) return addresses
  const find = (filter: MessageFilter) =>
    messages.list(tenantId, { ...filter, direction: "inbound" }, undefined, LOOKUP_LIMIT)
  const written = yield* Effect.forEach(addresses, (from) => find({ from }))
  // By its id: strangers can fill the thread with any number of other mails.
  const answered = answers === undefined ? Lookup.missing : yield* messages.find(tenantId, answers)
  const exact = answered._tag === "Owned" && answered.value.direction === "inbound" ? [answered.value] : []
  const received: ReadonlyArray<MessageSummary> = [...exact, ...(yield* find({ threadId })), ...written.flat()]
  const namedIn = (isForged: boolean) =>
    new Set(
      received
        .filter(({ authentication }) => (authentication?.dmarc === "fail") === isForged)
        .flatMap(({ cc, from, to }) => [from, ...to, ...cc].map(foldAddress))
    )
  const [known, claimed] = [namedIn(false), namedIn(true)]
  return addresses
    .filter((address) => !known.has(address))
    .map((address) => (reason === "complained" || claimed.has(address) ? siteOf(address) : address))
})

/** What `suppress` works with. */
interface Context {
  readonly messages: MessageStore["Service"]
  readonly policy: MailPolicy
  /** The domain of every mailbox. */
  readonly ownDomain: string
}

/**
 * Suppresses addresses that bounced or complained, and pauses the tenant's sending if too many did. Must run under the
 * tenant's lock. An address that is suppressed already does not count again. One of the service's own domain never
 * bounces: a mailbox can be created or activated at any time, and is looked up before each send.
 */
export const suppress = Effect.fnUntraced(function* ({ messages, ownDomain, policy }: Context, feedback: Feedback) {
  const { message, reason } = feedback
  const { messageId, tenantId } = message
  const suppressible = feedback.addresses.filter((address) => reason === "complained" || !isAt(address, ownDomain))
  if (suppressible.length === 0) return
  const addresses = yield* messages.suppress(tenantId, suppressible, reason)
  const reporters = addresses.length === 0 ? [] : yield* reportersOf(messages, { ...feedback, addresses })
  if (reporters.length === 0) return
  const now = yield* Timestamp.now
  const counted = yield* messages.addFeedback(
    { tenantId, reason, reporters, messageId, at: now },
    SendingQuota.FEEDBACK_WINDOW
  )
  const record = SendingQuota.today(policy.sending, yield* messages.findSending(tenantId), now)
  yield* messages.putSending(tenantId, SendingQuota.withFeedback(policy.sending, record, reason, counted, now))
})
