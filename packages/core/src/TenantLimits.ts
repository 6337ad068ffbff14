import { Context, Effect, Layer, Schema } from "effect"
import { MailPolicy } from "./email/MailPolicy.ts"
import { MailboxStore } from "./email/MailboxStore.ts"
import { MessageStore } from "./email/MessageStore.ts"
import * as SendingQuota from "./email/SendingQuota.ts"
import * as Timestamp from "./kernel/Timestamp.ts"
import { CallPolicy, countCalls, RECENT_LIMIT, SHORT_CALL_SECONDS, VELOCITY_WINDOW } from "./phone/CallPolicy.ts"
import { CallStore } from "./phone/CallStore.ts"
import type { TenantId } from "./tenancy/Tenant.ts"

type Scope = "wallet" | "mailbox" | "number" | "recipient"

interface LimitDeclaration<Policy> {
  /** The same as in `error.quota`, where a refused request can name it. */
  readonly name: string
  readonly scope: Scope
  readonly description: string
  /** The answer to a request above the limit. */
  readonly answer: string
  /** The limit of a new tenant. Infinite for none. */
  readonly limitOf: (policy: Policy) => number
}

const QUOTA = "429 QUOTA_EXCEEDED"
const STORAGE = "409 CONFLICT to a send; SMTP 452 to inbound mail"

export const MAIL_LIMITS = [
  {
    name: "mailbox_messages",
    scope: "mailbox",
    description: "Messages stored in one mailbox.",
    answer: STORAGE,
    limitOf: ({ mailboxLimit }) => mailboxLimit.messages
  },
  {
    name: "mailbox_bytes",
    scope: "mailbox",
    description: "Bytes of the messages in one mailbox.",
    answer: STORAGE,
    limitOf: ({ mailboxLimit }) => mailboxLimit.bytes
  },
  {
    name: "mail_messages",
    scope: "wallet",
    description: "Messages stored in all mailboxes.",
    answer: STORAGE,
    limitOf: ({ tenantLimit }) => tenantLimit.messages
  },
  {
    name: "mail_bytes",
    scope: "wallet",
    description: "Bytes of the messages in all mailboxes.",
    answer: STORAGE,
    limitOf: ({ tenantLimit }) => tenantLimit.bytes
  },
  {
    name: "mail_inbound_per_hour",
    scope: "mailbox",
    description: "Messages that one mailbox accepts in an hour.",
    answer: "SMTP 450 to the sender",
    limitOf: ({ inboundPerHour }) => inboundPerHour.mailbox
  },
  {
    name: "mail_recipients_per_day",
    scope: "wallet",
    description: "Recipients of sent messages in a day (UTC). It doubles after each day on which half of it was used.",
    answer: QUOTA,
    limitOf: ({ sending }) => sending.recipientsPerDayAtFirst
  }
] as const satisfies ReadonlyArray<LimitDeclaration<MailPolicy>>

export const CALL_LIMITS = [
  {
    name: "calls_at_once",
    scope: "wallet",
    description: "Outbound calls of all numbers at one time.",
    answer: QUOTA,
    limitOf: ({ atOnce }) => atOnce.perTenant
  },
  {
    name: "calls_at_once_per_number",
    scope: "number",
    description: "Outbound calls of one number at one time.",
    answer: `${QUOTA}, as \`calls_at_once\``,
    limitOf: ({ atOnce }) => atOnce.perNumber
  },
  {
    name: "calls_per_hour",
    scope: "wallet",
    description: "Outbound calls placed within an hour.",
    answer: QUOTA,
    limitOf: ({ perHour }) => perHour.calls
  },
  {
    name: "calls_to_one_number",
    scope: "recipient",
    description: "Calls to one number within an hour.",
    answer: QUOTA,
    limitOf: ({ perHour }) => perHour.toOneNumber
  },
  {
    name: "calls_short",
    scope: "wallet",
    description: `Calls within an hour that end within ${SHORT_CALL_SECONDS} s of their answer.`,
    answer: QUOTA,
    limitOf: ({ perHour }) => perHour.short
  }
] as const satisfies ReadonlyArray<LimitDeclaration<CallPolicy>>

export type LimitName = (typeof MAIL_LIMITS | typeof CALL_LIMITS)[number]["name"]

/** A limit as clients see it. */
export const LimitRecord = Schema.Struct({
  name: Schema.Literals([...MAIL_LIMITS, ...CALL_LIMITS].map(({ name }) => name)).annotateKey({
    description: "Name of the limit, as in `error.quota` of a refused request."
  }),
  scope: Schema.Literals(["wallet", "mailbox", "number", "recipient"]).annotateKey({
    description:
      "What the limit counts for: everything of the wallet, or each mailbox, number or called number by itself."
  }),
  description: Schema.String.annotateKey({ description: "The limit in one sentence." }),
  limit: Schema.NullOr(Schema.Int).annotateKey({
    description: "The largest value, in messages, bytes, recipients or calls. Null if this server has no such limit."
  }),
  used: Schema.NullOr(Schema.Int).annotateKey({
    description: "How much of it is used. Null for a limit that counts for less than the wallet."
  }),
  resetsAt: Schema.NullOr(Timestamp.IsoTimestamp).annotateKey({
    description:
      "When the count starts again. Null for a limit whose count falls by itself, or only when something is deleted."
  })
}).annotate({ identifier: "Limit" })
export type LimitRecord = typeof LimitRecord.Type

/** The pause of a tenant's sending as clients see it. */
export const SendingPauseRecord = Schema.Struct({
  until: Timestamp.IsoTimestamp.annotateKey({ description: "When sending is possible again." }),
  reason: Schema.Literals(["bounced", "complained"]).annotateKey({
    description: "Why it is paused: too many recipients did not exist, or complained."
  })
}).annotate({ identifier: "SendingPause" })

/** The limits of a tenant and how much of each it uses. */
export interface TenantLimitsReport {
  readonly limits: ReadonlyArray<LimitRecord>
  readonly sendingPause: typeof SendingPauseRecord.Type | null
  readonly callableCountries: ReadonlyArray<string>
}

/** How much of a limit is used, and the limit itself where it differs from that of a new tenant. */
interface Use {
  readonly used: number
  readonly limit?: number
  readonly resetsAt?: Timestamp.Timestamp
}

const toRecords = <Policy>(
  declared: ReadonlyArray<LimitDeclaration<Policy> & { readonly name: LimitName }>,
  policy: Policy,
  uses: { readonly [Name in LimitName]?: Use }
): ReadonlyArray<LimitRecord> =>
  declared.map(({ description, limitOf, name, scope }) => {
    const use = uses[name]
    const limit = use?.limit ?? limitOf(policy)
    return {
      name,
      scope,
      description,
      limit: Number.isFinite(limit) ? limit : null,
      used: use?.used ?? null,
      resetsAt: Timestamp.toIsoOrNull(use?.resetsAt ?? null)
    }
  })

export class TenantLimits extends Context.Service<
  TenantLimits,
  {
    /** Returns the limits of the tenant's mail, of its calls, or both. Reads counters and recent calls, never messages. */
    readonly read: (
      tenantId: TenantId,
      halves: { readonly email: boolean; readonly phone: boolean }
    ) => Effect.Effect<TenantLimitsReport>
  }
>()("@agentos/core/TenantLimits") {
  static readonly layer = Layer.effect(
    TenantLimits,
    Effect.gen(function* () {
      const mailboxes = yield* MailboxStore
      const messages = yield* MessageStore
      const calls = yield* CallStore
      const mailPolicy = yield* MailPolicy
      const callPolicy = yield* CallPolicy

      const ofMail = Effect.fnUntraced(function* (tenantId: TenantId, now: Timestamp.Timestamp) {
        const [first] = yield* mailboxes.list(tenantId)
        const standings = yield* mailboxes.findStandings(first === undefined ? [] : [first.mailboxId])
        const stored = [...standings.values()][0]?.tenantUsage ?? { messages: 0, bytes: 0 }
        const record = SendingQuota.today(mailPolicy.sending, yield* messages.findSending(tenantId), now)
        const { level, pause, recipients } = record
        const limit = SendingQuota.limitOf(mailPolicy.sending, level)
        return {
          limits: toRecords(MAIL_LIMITS, mailPolicy, {
            mail_messages: { used: stored.messages },
            mail_bytes: { used: stored.bytes },
            mail_recipients_per_day: { used: recipients, limit, resetsAt: SendingQuota.endOf(record) }
          }),
          sendingPause: pause === null ? null : { until: Timestamp.toIso(pause.until), reason: pause.reason }
        }
      })

      const ofCalls = Effect.fnUntraced(function* (tenantId: TenantId, now: Timestamp.Timestamp) {
        const since = Timestamp.fromMillis(Math.max(0, now - VELOCITY_WINDOW))
        const recent = yield* calls.recent(tenantId, since, RECENT_LIMIT)
        const { live, short } = countCalls(recent)
        return {
          limits: toRecords(CALL_LIMITS, callPolicy, {
            calls_at_once: { used: live.length },
            calls_per_hour: { used: recent.length },
            calls_short: { used: short.length }
          }),
          callableCountries: [...callPolicy.countries].toSorted()
        }
      })

      return TenantLimits.of({
        read: Effect.fnUntraced(function* (tenantId, { email, phone }) {
          const now = yield* Timestamp.now
          const mail = email ? yield* ofMail(tenantId, now) : { limits: [], sendingPause: null }
          const call = phone ? yield* ofCalls(tenantId, now) : { limits: [], callableCountries: [] }
          const { callableCountries } = call
          return { limits: [...mail.limits, ...call.limits], sendingPause: mail.sendingPause, callableCountries }
        })
      })
    })
  )
}
