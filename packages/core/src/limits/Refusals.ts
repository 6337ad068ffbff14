import { Effect, Metric, Schema } from "effect"

/** The quotas that a tenant can reach by its own requests, and that free up by themselves. */
export const TimedQuota = Schema.Literals([
  "mail_recipients_per_day",
  "mail_sending_paused",
  "calls_at_once",
  "calls_per_hour",
  "calls_to_one_number",
  "calls_short"
])
export type TimedQuota = typeof TimedQuota.Type

/** The tenant has reached a quota. The same request may succeed after `retryAfterSeconds`. */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>()("QuotaExceeded", {
  quota: TimedQuota,
  /** Names the quota and when it frees up. */
  message: Schema.String,
  retryAfterSeconds: Schema.Int
}) {}

/** Why a request, a mail or a call is refused, as labeled in the metric. */
export type RefusalReason = TimedQuota | "tenant_suspended" | "mail_storage" | "mail_inbound_rate" | "call_country"

const refusalsOf = (reason: RefusalReason) =>
  Metric.counter("agentos_quota_refusals_total", {
    description: "Requests, mails and calls that this server refused because of a quota or a suspension.",
    attributes: { reason },
    incremental: true
  })

export const countRefusal = (reason: RefusalReason): Effect.Effect<void> => Metric.update(refusalsOf(reason), 1)
