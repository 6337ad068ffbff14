import type { ProviderError, SettleAnswer } from "@agentos/core"
import type { Effect } from "effect"

/**
 * What is asked of a facilitator: the payer's own payload, and the requirements it is held
 * against, which we made (x402 version 2, section 7.2). Both as JSON text.
 */
export interface FacilitatorRequest {
  readonly payload: string
  readonly requirements: string
}

/**
 * Who submits authorizations to a chain for us. Nothing is asked twice by itself: a repeated settlement is the
 * caller's decision. What it says decides nothing, the chain does. It is not asked to verify: it would see the
 * authorization before the operation is claimed.
 */
export interface Facilitator {
  /** Fails where it is known beforehand that no payment can be submitted now. Shows no payment to anybody. */
  readonly ready: Effect.Effect<void, ProviderError>
  /**
   * Submits the payment. `Accepted` and `Refused` are what the facilitator says in so many words;
   * a time-out, a broken connection, and any answer that leaves room for doubt, are `Unknown`.
   */
  readonly settle: (request: FacilitatorRequest) => Effect.Effect<SettleAnswer>
  /** Whether it settles scheme `exact` of version 2 on a network. */
  readonly supports: (network: string) => Effect.Effect<boolean, ProviderError>
}
