import { Effect, Metric } from "effect"

/** What a request or a mail can be refused for, as the metric names it. */
export type RefusalReason =
  | "tenant_suspended"
  | "mail_storage"
  | "mail_inbound_rate"
  | "mail_recipients_per_day"
  | "mail_sending_paused"
  | "call_country"
  | "calls_at_once"
  | "calls_per_hour"
  | "calls_to_one_number"
  | "calls_short"

const refusalsOf = (reason: RefusalReason) =>
  Metric.counter("agentos_quota_refusals_total", {
    description: "Requests, mails and calls that this server refused because of a quota or a suspension.",
    attributes: { reason },
    incremental: true
  })

/** Counts a refusal. */
export const countRefusal = (reason: RefusalReason): Effect.Effect<void> => Metric.update(refusalsOf(reason), 1)
