import type { ProviderError, SettleAnswer } from "@agentos/core"
import type { Effect, Scope } from "effect"
import type { OfferedNetwork } from "../PaymentNetwork.ts"

/**
 * The payer's own payload, and the requirements that we made for it (x402 version 2, section 7.2). Both are
 * JSON text.
 */
export interface FacilitatorRequest {
  readonly payload: string
  readonly requirements: string
}

/**
 * Submits authorizations to a chain for us. It never retries by itself: a repeated settlement is the caller's
 * decision. Its answers decide nothing, only the chain does. It is not asked to verify, because it would then
 * see the authorization before the operation is claimed.
 */
export interface Facilitator {
  /** Fails if it is already known that no payment can be submitted now. Reveals no payment. */
  readonly ready: Effect.Effect<void, ProviderError>
  /**
   * Submits the payment. `Accepted` and `Refused` require an explicit answer of the facilitator; a timeout, a
   * broken connection and any ambiguous answer are `Unknown`.
   */
  readonly settle: (request: FacilitatorRequest) => Effect.Effect<SettleAnswer>
  /** Returns whether the facilitator settles scheme `exact` of version 2 on a network. */
  readonly supports: (network: string) => Effect.Effect<boolean, ProviderError>
}

/** Makes the facilitator of a network. Its background work ends with the scope. */
export type FacilitatorFactory<R = never> = (
  offered: OfferedNetwork
) => Effect.Effect<Facilitator, never, R | Scope.Scope>
