import type { ProofInvalid, ProviderError, SettleAnswer } from "@agentos/core"
import type { Effect } from "effect"

/**
 * What is asked of a facilitator: the payer's own payload, and the requirements it is held
 * against, which we made (x402 version 2, sections 7.1 and 7.2). Both as JSON text.
 */
export interface FacilitatorRequest {
  readonly payload: string
  readonly requirements: string
}

/**
 * Who submits authorizations to a chain for us. Nothing is asked twice by itself: a repeated settlement is the
 * caller's decision. What it says decides nothing, the chain does.
 */
export interface Facilitator {
  /** Whether the payment would settle. No answer, or none that can be read, is a `ProviderError`: nothing happened. */
  readonly verify: (request: FacilitatorRequest) => Effect.Effect<void, ProofInvalid | ProviderError>
  /**
   * Submits the payment. `Accepted` and `Refused` are what the facilitator says in so many words;
   * a time-out, a broken connection, and any answer that leaves room for doubt, are `Unknown`.
   */
  readonly settle: (request: FacilitatorRequest) => Effect.Effect<SettleAnswer>
  /** Whether it settles scheme `exact` of version 2 on a network. */
  readonly supports: (network: string) => Effect.Effect<boolean, ProviderError>
}
