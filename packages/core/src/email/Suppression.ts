import { Context, Effect, Layer } from "effect"
import * as Lookup from "../kernel/Lookup.ts"
import type { Page, PageRequest } from "../kernel/Page.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { baseLocalPart, foldAddress, isAt, splitAddress } from "./EmailAddress.ts"
import { DEFAULT_SUPPRESSION_LIMIT } from "./EmailInput.ts"
import type { MailPolicy } from "./MailPolicy.ts"
import type { Message, MessageSummary, SenderAuthentication } from "./Message.ts"
import { type MessageFilter, MessageStore, type Suppression } from "./MessageStore.ts"
import * as SendingQuota from "./SendingQuota.ts"

/**
 * Domains at which millions of people have an address. No stranger runs their servers, so each of their addresses that
 * does not exist is evidence of its own. A provider that is missing here counts as any other domain.
 */
const MAILBOX_PROVIDERS: ReadonlySet<string> = new Set(
  `
  gmail.com googlemail.com icloud.com me.com mac.com proton.me protonmail.com fastmail.com zoho.com mail.com
  outlook.com hotmail.com hotmail.co.uk hotmail.de hotmail.fr hotmail.it live.com msn.com
  yahoo.com yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com.br yahoo.de yahoo.fr ymail.com rocketmail.com aol.com
  att.net comcast.net verizon.net btinternet.com gmx.com gmx.de gmx.net web.de t-online.de freenet.de
  orange.fr free.fr laposte.net libero.it mail.ru yandex.ru qq.com 163.com 126.com naver.com rediffmail.com uol.com.br
  `
    .trim()
    .split(/\s+/)
)

/** Limit of received messages, newest first, in which a person is searched: by that author, and in the thread. */
const LOOKUP_LIMIT = 50

/** A bounce or complaint about recipients of a message. */
interface Feedback {
  readonly message: Pick<MessageSummary, "answers" | "messageId" | "tenantId" | "threadId">
  /** Folded. */
  readonly addresses: ReadonlyArray<string>
  readonly reason: SendingQuota.PauseReason
  /** Whether a configured reporter complained, rather than the recipient itself or its server. */
  readonly isReporter: boolean
}

/** Zones such as `co.uk`, under which domains are sold. Not those where anyone has any number of domains for nothing. */
const REGISTRY_ZONE =
  /^(?:ac|co|com|edu|gov|ne|net|or|org)\.(?:ar|au|br|cn|hk|id|il|in|jp|kr|mx|my|nz|sg|th|tr|tw|uk|za)$/

/** Returns the registered domain. Under zones that are not known, too few domains are told apart. */
const siteOf = (domain: string): string => {
  const labels = domain.split(".")
  const zone = labels.slice(-2).join(".")
  return REGISTRY_ZONE.test(zone) ? labels.slice(-3).join(".") : zone
}

const domainOf = (address: string): string => `@${siteOf(splitAddress(address).domain)}`

/** Returns the address without a tag, by which one person has any number of addresses. */
const personOf = (address: string): string => {
  const { domain, localPart } = splitAddress(address)
  return `${baseLocalPart(localPart)}@${domain}`
}

/** Returns who says that an address does not exist: a mailbox provider about each of its users, or a whole domain. */
const bounceReporterOf = (address: string): string =>
  MAILBOX_PROVIDERS.has(siteOf(splitAddress(address).domain)) ? personOf(address) : domainOf(address)

/**
 * Returns those who count towards a pause, so that a handful of strangers can't stop a tenant.
 *
 * A recipient's own complaint does not count. One from a configured reporter counts for its recipient, unless that
 * person wrote to the tenant before, as DMARC proves.
 *
 * A bounce of a person who wrote to the tenant, or was a recipient of mail that the tenant answers, does not count. Only
 * mail that failed DMARC proves no such person, since it may be forged to evade a pause. The other bounces count once for
 * each domain, because its server can deny any number of addresses; those at mailbox providers once for each person.
 */
const reportersOf = Effect.fnUntraced(function* (
  messages: MessageStore["Service"],
  { addresses, isReporter, message: { answers, tenantId, threadId }, reason }: Feedback
) {
  if (reason === "complained" && !isReporter) return []
  const find = (filter: MessageFilter) =>
    messages.list(tenantId, { ...filter, direction: "inbound" }, undefined, LOOKUP_LIMIT)
  const written = yield* Effect.forEach(addresses, (from) => find({ from }))
  // By its id: strangers can fill the thread with any number of other mails.
  const answered = answers === undefined ? Lookup.missing : yield* messages.find(tenantId, answers)
  const exact = answered._tag === "Owned" && answered.value.direction === "inbound" ? [answered.value] : []
  const received: ReadonlyArray<MessageSummary> = [...exact, ...(yield* find({ threadId })), ...written.flat()]
  const dmarcOf = ({ authentication }: MessageSummary) => authentication?.dmarc
  if (reason === "complained") {
    const proven = received.filter((mail) => dmarcOf(mail) === "pass")
    const authors = new Set(proven.map(({ from }) => foldAddress(from)))
    return addresses.filter((address) => !authors.has(address)).map(personOf)
  }
  const namedIn = (mails: ReadonlyArray<MessageSummary>) =>
    new Set(mails.flatMap(({ cc, from, replyTo, to }) => [from, ...replyTo, ...to, ...cc].map(foldAddress)))
  const known = namedIn(received.filter((mail) => dmarcOf(mail) !== "fail"))
  const claimed = namedIn(received.filter((mail) => dmarcOf(mail) === "fail"))
  return addresses
    .filter((address) => !known.has(address))
    .map((address) => (claimed.has(address) ? domainOf(address) : bounceReporterOf(address)))
})

const isDisproved = ({ dkim, dmarc, spf }: SenderAuthentication): boolean =>
  [dkim, dmarc, spf].some((result) => result === "fail" || result === "softfail" || result === "temperror")

/**
 * Returns the (folded) author if a received message shows that the address works, so that a suppression after a bounce is
 * lifted. No check of the sender may have failed: a domain that publishes how its mail is proved is believed only then. A
 * forgery in the name of another domain lifts at most one address that then bounces again. A complaint is never lifted.
 */
export const workingAddress = ({
  authentication,
  from
}: Pick<Message, "authentication" | "from">): string | undefined =>
  from === "" || authentication === null || (authentication.dmarc !== "pass" && isDisproved(authentication))
    ? undefined
    : foldAddress(from)

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
  const after = SendingQuota.withFeedback(policy.sending, record, reason, counted, now)
  yield* messages.putSending(tenantId, after)
  if (record.pause !== null || after.pause === null) return
  yield* Effect.logWarning(`Sending is paused until ${Timestamp.toIso(after.pause.until)}: too many ${reason}`).pipe(
    Effect.annotateLogs({ tenantId, messageId })
  )
})

/** The addresses that a tenant may no longer write to, for the tenant and the operator. */
export class Suppressions extends Context.Service<
  Suppressions,
  {
    /** Returns the suppressions by address. The cursor of a page is its last address. */
    readonly list: (tenantId: TenantId, page: PageRequest) => Effect.Effect<Page<Suppression>>
    /**
     * Lifts the suppression of an address, in any case, and returns whether it was suppressed. Later mail to it may
     * bounce again, which suppresses it again. What counts towards a pause stays counted.
     */
    readonly lift: (tenantId: TenantId, address: string) => Effect.Effect<boolean>
  }
>()("@agentos/core/email/Suppressions") {
  static readonly layer = Layer.effect(
    Suppressions,
    Effect.gen(function* () {
      const messages = yield* MessageStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      return Suppressions.of({
        list: Effect.fnUntraced(function* (tenantId, { cursor, limit = DEFAULT_SUPPRESSION_LIMIT }) {
          const found = yield* messages.listSuppressions(tenantId, cursor, limit + 1)
          const items = found.slice(0, limit)
          return { items, nextCursor: found.length > limit ? (items.at(-1)?.address ?? null) : null }
        }),
        // Under the lock, so that a report that is being applied does not suppress by state that it read before.
        lift: (tenantId, address) =>
          transactor.transact(
            Effect.andThen(tenants.lock([tenantId]), messages.liftSuppression(tenantId, foldAddress(address)))
          )
      })
    })
  )
}
