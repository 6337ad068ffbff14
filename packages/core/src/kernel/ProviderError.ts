import { Schema } from "effect"

/**
 * Why a call to an external provider (a facilitator, a chain, a mail relay, a carrier) failed:
 *
 * - `Temporary`: it had no effect, and may succeed later;
 * - `Rejected`: it had no effect, and the same call will never succeed;
 * - `Misconfigured`: it had no effect, and the operator must act;
 * - `Unknown`: it may have had its effect. Determine the outcome before repeating it.
 */
export const ProviderErrorReason = Schema.Literals(["Temporary", "Rejected", "Misconfigured", "Unknown"])
export type ProviderErrorReason = typeof ProviderErrorReason.Type

/** The provider is unavailable, so availability could not be determined. Nothing was ordered and nothing charged. */
export class ProviderUnavailable extends Schema.TaggedError<ProviderUnavailable>()("ProviderUnavailable", {
  message: Schema.String,
  retryAfterSeconds: Schema.Int
}) {}

/** The only error of all provider ports. `message` is safe to show to a tenant: it contains no secret. */
export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  provider: Schema.String,
  reason: ProviderErrorReason,
  message: Schema.String,
  /** For a mail that was not sent: each refused recipient with the reason, as far as the relay reported them. */
  refused: Schema.optionalKey(Schema.Array(Schema.Struct({ address: Schema.String, reason: Schema.String }))),
  cause: Schema.optionalKey(Schema.Defect())
}) {}
