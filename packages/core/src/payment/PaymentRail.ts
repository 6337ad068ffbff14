import { Context, Effect, Schema } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { PaymentProof, PaymentTerms } from "./PaymentTerms.ts"

/** The header is not a payment of this rail at all. */
export class ProofMalformed extends Schema.TaggedError<ProofMalformed>()("ProofMalformed", {
  message: Schema.String
}) {}

/** The payment does not hold: wrong signer, expired, too little balance, or its transfer would fail. */
export class ProofInvalid extends Schema.TaggedError<ProofInvalid>()("ProofInvalid", { message: Schema.String }) {}

/** The chain's view of an authorization's nonce. */
export interface NonceReading {
  readonly used: boolean
  /**
   * A block that the nonce was still unused in, and that is not taken back any more, as far as the network's
   * confirmations go. A settlement by anybody counts only in a later one.
   */
  readonly block: bigint
}

/** What the facilitator said to a settlement. Only the chain proves it; see `findSettlement`. */
export type SettleAnswer =
  | { readonly _tag: "Accepted"; readonly transaction: string }
  | { readonly _tag: "Refused"; readonly message: string }
  | { readonly _tag: "Unknown"; readonly message: string }

/** What the chain says became of an authorization. */
export type Settlement =
  /** The token moved the right amount from the payer to us by this authorization. */
  | { readonly _tag: "Paid"; readonly transaction: string; readonly block: bigint }
  /** The nonce is unused; `expired` when finalized chain time is past validBefore, so that it stays so for ever. */
  | { readonly _tag: "Unused"; readonly expired: boolean }
  /** The nonce was used for something else: cancelled, sent elsewhere, or before `afterBlock`. */
  | { readonly _tag: "UsedOtherwise"; readonly message: string }
  /** The nonce is used, and the chain does not yet show by what with enough confirmations. */
  | { readonly _tag: "Unsettled" }

/** Money to be given back: the whole of a payment, to the wallet that made it. */
export interface Refund {
  /** The terms that were paid: network, token, amount. */
  readonly terms: PaymentTerms
  /** The authorization that paid. Whoever signed it is paid back. */
  readonly proof: Pick<PaymentProof, "payer" | "nonce">
  /** The transaction in which it was seen to pay, and the block after which that was. */
  readonly transaction: string
  readonly afterBlock: bigint
  /** The nonce of the authorization that pays back: the token takes it once, however often it is submitted. */
  readonly nonce: string
}

/** How far a refund has come. */
export type RefundProgress =
  /** The chain shows the transfer back, with enough confirmations. */
  | { readonly _tag: "Paid"; readonly transaction: string }
  /** Not yet: the payment is not final, or the transfer back is on its way. Ask again. `message` holds no secret. */
  | { readonly _tag: "Pending"; readonly message: string }

/** A token on a network. */
export interface Token {
  readonly network: string
  readonly asset: string
}

/** A transfer of a token between us and somebody, as its contract's log has it. Addresses in lower case. */
export interface ChainTransfer {
  readonly direction: "received" | "refunded"
  readonly transaction: string
  readonly block: bigint
  /** The other side: who paid, or who was paid back. */
  readonly wallet: string
  /** Base units of the token. */
  readonly amount: bigint
}

/** What the client sees of a challenge besides the terms. */
export interface ChallengeDocument {
  readonly error: string | undefined
  readonly resource: { readonly url: string; readonly description: string }
  readonly accepts: ReadonlyArray<PaymentTerms>
}

/**
 * The port to the payment network: makes and reads the x402 headers, checks
 * and submits authorizations, and reads from the chain what became of them.
 */
export class PaymentRail extends Context.Service<
  PaymentRail,
  {
    /** The terms for an amount, one per network offered, best first. `extra` holds what the scheme needs, not yet our binding. */
    readonly terms: (amount: bigint) => ReadonlyArray<PaymentTerms>
    /** The value of PAYMENT-REQUIRED. */
    readonly encodeChallenge: (document: ChallengeDocument) => string
    /** Reads PAYMENT-SIGNATURE. Checks its shape and limits alone. */
    readonly decodeProof: (header: string) => Effect.Effect<PaymentProof, ProofMalformed>
    /**
     * Whether the payer bound the authorization's nonce to another challenge than the one of these terms. Computed
     * locally. A nonce that is bound to no challenge answers false.
     */
    readonly isBoundElsewhere: (proof: PaymentProof, terms: PaymentTerms) => boolean
    /** Whether the payer signed this authorization, by local computation alone. */
    readonly authenticate: (proof: PaymentProof) => Effect.Effect<void, ProofInvalid>
    /**
     * Whether the authorization could settle now: amount, recipient and time window against the terms, the payer's
     * balance, and whether there is anybody to submit it. Shows the signature to nobody.
     */
    readonly verify: (proof: PaymentProof, terms: PaymentTerms) => Effect.Effect<void, ProofInvalid | ProviderError>
    /** Reads from the chain whether the nonce is used. */
    readonly readNonce: (proof: PaymentProof) => Effect.Effect<NonceReading, ProviderError>
    /**
     * Simulates the transfer on the chain. `ProofInvalid` when it would fail now. The node sees the signature, as
     * whoever settles does: call neither before the operation is claimed.
     */
    readonly simulate: (proof: PaymentProof, terms: PaymentTerms) => Effect.Effect<void, ProofInvalid | ProviderError>
    /** Submits the authorization. Everything that is neither a plain success nor a plain refusal is `Unknown`. */
    readonly settle: (proof: PaymentProof, terms: PaymentTerms) => Effect.Effect<SettleAnswer>
    /**
     * Finds out from the chain alone what became of the authorization. A use in a
     * block not later than `afterBlock` is `UsedOtherwise`. `transaction`, when known,
     * is where to look first.
     */
    readonly findSettlement: (
      proof: PaymentProof,
      terms: PaymentTerms,
      afterBlock: bigint,
      transaction?: string
    ) => Effect.Effect<Settlement, ProviderError>
    /** The newest block that is older than a moment: whatever happens from that moment on is in a later one. */
    readonly blockBefore: (token: Token, moment: Timestamp) => Effect.Effect<bigint, ProviderError>
    /** Whether there is a wallet to pay back from, for this token. */
    readonly canRefund: (token: Token) => boolean
    /**
     * Carries on a refund, however far it has come, also in a process that has died: looks on the chain first,
     * and submits the transfer back only when the nonce is unused and the payment itself is final. May be called
     * again at any time; the money moves once. `Misconfigured` where there is no wallet to pay from.
     */
    readonly refund: (refund: Refund) => Effect.Effect<RefundProgress, ProviderError>
    /**
     * Transfers of a token to us, and from the wallet that pays back, from a block on, oldest first. One call looks
     * through a bounded number of blocks; `nextBlock` is where the next one begins, null at the chain's head.
     */
    readonly transfers: (
      token: Token,
      fromBlock: bigint
    ) => Effect.Effect<
      { readonly transfers: ReadonlyArray<ChainTransfer>; readonly nextBlock: bigint | null },
      ProviderError
    >
    /** The value of PAYMENT-RESPONSE for a payment that settled. The same for the same payment. */
    readonly encodeReceipt: (receipt: {
      readonly network: string
      readonly transaction: string
      readonly payer: string
      readonly amount: bigint
    }) => string
  }
>()("@agentos/core/payment/PaymentRail") {}
