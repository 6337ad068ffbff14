import { Effect, Metric } from "effect"

/** Why a request, a mail or a call is refused, as labeled in the metric. */
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

export const countRefusal = (reason: RefusalReason): Effect.Effect<void> => Metric.update(refusalsOf(reason), 1)
