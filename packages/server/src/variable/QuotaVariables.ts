import { DEFAULT_CALL_POLICY, DEFAULT_MAIL_POLICY, RETENTION_DAYS_MIN, Timestamp } from "@agentos/core"
import { inGroup, integer } from "./Variable.ts"

const QUOTA_MAX = 1_000_000_000
const MEBIBYTE = 1024 ** 2

const { atOnce, perHour } = DEFAULT_CALL_POLICY
const { inboundPerHour, mailboxLimit, sending, tenantLimit } = DEFAULT_MAIL_POLICY

/** A limit from 0 on; 0 means no limit. */
const limit = (fallback: number, meaning: string, sandboxDefault?: number) =>
  integer(0, QUOTA_MAX, {
    default: fallback,
    ...(sandboxDefault === undefined ? {} : { sandboxDefault }),
    meaning: `${meaning}. 0: no limit`
  })

/** A number of days; 0 means without end. */
const days = (meaning: string) => integer(0, 36_500, { default: 0, meaning })

/** A rate of inbound mail. */
const inbound = (fallback: number, from: string) =>
  integer(1, QUOTA_MAX, {
    default: fallback,
    sandboxDefault: 10_000,
    meaning: `messages accepted in an hour ${from}`
  })

/** The number of recipients from which a rate applies, and the rate. */
const feedback = ({ count, rate }: { readonly count: number; readonly rate: number }, outcome: string) =>
  [
    integer(0, QUOTA_MAX, {
      default: count,
      meaning: `recipients ${outcome}, within 24 hours: sending pauses when at least this many, and at least the next share, did. 0: no pause`
    }),
    integer(0, 1_000, { default: rate * 1_000, meaning: "that share of the recipients of two days, in thousandths" })
  ] as const

const [bouncesCount, bouncesRate] = feedback(
  sending.bounces,
  "that bounced (one for each domain, except at large mailbox providers)"
)
const [complaintsCount, complaintsRate] = feedback(sending.complaints, "that complained (as feedback loops report)")

export const QUOTA_VARIABLES = inGroup("quotas", {
  AGENTOS_MAILBOX_LIMIT_MESSAGES: limit(mailboxLimit.messages, "messages that a mailbox stores"),
  AGENTOS_MAILBOX_LIMIT_MB: limit(mailboxLimit.bytes / MEBIBYTE, "MiB of mail that a mailbox stores"),
  AGENTOS_TENANT_MAIL_LIMIT_MESSAGES: limit(tenantLimit.messages, "messages in all mailboxes of a tenant"),
  AGENTOS_TENANT_MAIL_LIMIT_MB: limit(tenantLimit.bytes / MEBIBYTE, "MiB of mail in all mailboxes of a tenant"),
  AGENTOS_MAIL_RECIPIENTS_PER_DAY_AT_FIRST: limit(
    sending.recipientsPerDayAtFirst,
    "recipients that a new tenant writes to on a UTC day; doubles with use, up to the next"
  ),
  AGENTOS_MAIL_RECIPIENTS_PER_DAY: limit(sending.recipientsPerDay, "recipients that any tenant writes to on a UTC day"),
  AGENTOS_MAIL_PAUSE_BOUNCES_COUNT: bouncesCount,
  AGENTOS_MAIL_PAUSE_BOUNCES_PER_1000: bouncesRate,
  AGENTOS_MAIL_PAUSE_COMPLAINTS_COUNT: complaintsCount,
  AGENTOS_MAIL_PAUSE_COMPLAINTS_PER_1000: complaintsRate,
  AGENTOS_MAIL_PAUSE_HOURS: integer(1, 8_760, {
    default: sending.pause / Timestamp.HOUR,
    meaning: "hours that a pause lasts"
  }),
  AGENTOS_FEEDBACK_REPORTERS: {
    kind: "text",
    otherwise: "complaints never pause sending: a recipient's own suppresses only its address",
    example: "fbl.example.com",
    meaning:
      "domains of feedback loops, comma-separated: a complaint from one of them, proven by DMARC, SPF or DKIM, counts for the recipients that it names"
  },
  AGENTOS_MAIL_INBOUND_PER_HOUR_SENDER: inbound(inboundPerHour.sender, "from one envelope sender in one network"),
  AGENTOS_MAIL_INBOUND_PER_HOUR_NETWORK: inbound(inboundPerHour.network, "from one network (IPv4 /24, IPv6 /48)"),
  AGENTOS_MAIL_INBOUND_PER_HOUR_MAILBOX: inbound(inboundPerHour.mailbox, "for one mailbox"),
  AGENTOS_RAW_MAIL_RETENTION_DAYS: days("days that raw mail is kept after it was received. 0: as long as its message"),
  AGENTOS_MESSAGE_RETENTION_DAYS: days(
    "days that a message is kept after it was received or sent. 0: as long as its mailbox"
  ),
  AGENTOS_CALL_RETENTION_DAYS: days("days that a call is kept after its end. 0: permanently"),
  AGENTOS_TRANSCRIPT_RETENTION_DAYS: days(
    "days that the transcript of a call is kept after the call's end. 0: as long as the call"
  ),
  AGENTOS_ANSWER_RETENTION_DAYS: days(
    `days that the answer of a paid operation is kept after its claim, with its request and authorization: ${RETENTION_DAYS_MIN.answers} or more. A repeated payment is then answered with 410 ANSWER_EXPIRED. The ledger and the keys that prevent another charge stay. 0: permanently`
  ),
  AGENTOS_AUDIT_RETENTION_DAYS: days(
    `days that a record of the operators' audit is kept: ${RETENTION_DAYS_MIN.audit} or more. 0: permanently`
  ),
  AGENTOS_CALLS_AT_ONCE_PER_NUMBER: limit(atOnce.perNumber, "outbound calls of a number at a time"),
  AGENTOS_CALLS_AT_ONCE_PER_TENANT: limit(atOnce.perTenant, "outbound calls of a tenant at a time"),
  AGENTOS_CALLS_PER_HOUR: limit(perHour.calls, "calls that a tenant places within an hour", 600),
  AGENTOS_CALLS_PER_HOUR_TO_ONE_NUMBER: limit(
    perHour.toOneNumber,
    "calls of a tenant to one number within an hour",
    300
  ),
  AGENTOS_SHORT_CALLS_PER_HOUR: limit(
    perHour.short,
    "calls of a tenant within an hour that were over 6 s after their answer",
    300
  )
})
