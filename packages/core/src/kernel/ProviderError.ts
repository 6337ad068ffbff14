import { Schema } from "effect"

/**
 * Why a call to a provider outside (a facilitator, a chain, a mail relay, a
 * carrier) did not succeed:
 *
 * - `Temporary`: it did not happen, and may succeed later;
 * - `Rejected`: it did not happen, and the same call will never succeed;
 * - `Misconfigured`: it did not happen, and the operator must act;
 * - `Unknown`: it may have happened. Find out before doing it again.
 */
export const ProviderErrorReason = Schema.Literals(["Temporary", "Rejected", "Misconfigured", "Unknown"])
export type ProviderErrorReason = typeof ProviderErrorReason.Type

/** Whether something can be had was not to be found out: the provider is unwell. Nothing was asked of it, and nothing charged. */
export class ProviderUnwell extends Schema.TaggedError<ProviderUnwell>()("ProviderUnwell", {
  message: Schema.String,
  retryAfterSeconds: Schema.Int
}) {}

/** The one error of every provider port. `message` is safe to show to a tenant: it holds no secret. */
export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  provider: Schema.String,
  reason: ProviderErrorReason,
  message: Schema.String,
  /** Of a mail that was not sent: each recipient that was refused, and why, as far as it came to that. */
  refused: Schema.optionalKey(Schema.Array(Schema.Struct({ address: Schema.String, reason: Schema.String }))),
  cause: Schema.optionalKey(Schema.Defect())
}) {}
