import { Context, Effect, type Option, Schema } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { ChallengeBinding, PaymentProof, PaymentTerms } from "./PaymentTerms.ts"

/** The header does not contain a payment of this rail. */
export class ProofMalformed extends Schema.TaggedError<ProofMalformed>()("ProofMalformed", {
  message: Schema.String
}) {}

/** The payment is not valid: wrong signer, expired, insufficient balance, or its transfer would fail. */
export class ProofInvalid extends Schema.TaggedError<ProofInvalid>()("ProofInvalid", {
  message: Schema.String,
  /** The payer's alternative to signing another payment. */
  remedy: Schema.optionalKey(Schema.String)
}) {}

/**
 * The payer must send a transaction to the chain, once, before its tokens can be moved by a signature. Nothing was submitted.
 */
export class AllowanceRequired extends Schema.TaggedError<AllowanceRequired>()("AllowanceRequired", {
  /** Describes the missing allowance and the transaction. */
  message: Schema.String,
  /** The transaction that the payer signs and sends: on this chain, from the wallet that pays, without value. */
  transaction: Schema.Struct({ network: Schema.String, to: Schema.String, data: Schema.String })
}) {}

/** The state of an authorization's nonce on the chain. */
export interface NonceReading {
  readonly used: boolean
  /**
   * A block in which the nonce was still unused, and which has the confirmations that the network requires against a
   * reorganization. A settlement, whoever submitted it, counts only in a later block.
   */
  readonly block: bigint
}

/** The facilitator's answer to a settlement. Only the chain proves a settlement; see `findSettlement`. */
export type SettleAnswer =
  | { readonly _tag: "Accepted"; readonly transaction: string }
  | { readonly _tag: "Refused"; readonly message: string }
  | { readonly _tag: "Unknown"; readonly message: string }

/** A transfer on the chain that an authorization may have made. It proves one operation at most. */
export interface CandidateTransfer {
  /** 64 hexadecimal digits that no other transfer has. They stay the same if a reorganization moves the transfer. */
  readonly transferId: string
  readonly transaction: string
}

/** The chain shows a transfer of the right amount of the token from the payer to us, or of less if the token kept a fee. */
export interface PaidSettlement {
  readonly _tag: "Paid"
  readonly transaction: string
  readonly block: bigint
  /**
   * Present if the chain does not show which transfer the authorization made: those that can be it, best first, of which
   * `transaction` has the first, in `block`.
   */
  readonly candidates?: ReadonlyArray<CandidateTransfer>
  /** Whether there are more candidates, which do not have enough confirmations yet. */
  readonly hasUnconfirmed?: boolean
  /** Present if the token kept a fee, so that less than the amount arrived. It buys nothing and is refunded. */
  readonly isShort?: true
}

/** The outcome of an authorization according to the chain. */
export type Settlement =
  | PaidSettlement
  /** The nonce is unused. `expired` when finalized chain time is past validBefore, so that it remains unused. */
  | { readonly _tag: "Unused"; readonly expired: boolean }
  /**
   * The nonce was used otherwise: cancelled, sent elsewhere, or used in `afterBlock` or earlier. `block` is that of a use
   * which the chain's log shows after `afterBlock`; it is missing for an earlier use, which may have been a payment.
   */
  | { readonly _tag: "UsedOtherwise"; readonly message: string; readonly block?: bigint }
  /** The nonce is used, and the chain does not yet show by which transfer with enough confirmations. */
  | { readonly _tag: "Unsettled" }

/** A refund: the whole amount of a payment, to the wallet that paid. */
export interface Refund {
  /** The terms of the payment: network, token, amount. */
  readonly terms: PaymentTerms
  /** The authorization that paid. Its signer receives the refund. */
  readonly proof: Pick<PaymentProof, "payer" | "nonce">
  /** The transaction that paid, and the block after which it was included. */
  readonly transaction: string
  readonly afterBlock: bigint
  /** The nonce of the refund's authorization. The token contract accepts it once, however often it is submitted. */
  readonly nonce: string
}

export type RefundProgress =
  /** The chain shows the refund's transfer with enough confirmations. */
  | { readonly _tag: "Paid"; readonly transaction: string }
  /**
   * The payment is not final, or the refund's transfer is in progress. Poll again. `message` contains no secret; `failure` is
   * present if the facilitator did not submit the transfer, as far as its answer shows.
   */
  | { readonly _tag: "Pending"; readonly message: string; readonly failure?: "Rejected" | "Unknown" }

export interface Token {
  readonly network: string
  readonly asset: string
}

/** The amounts of a token that a wallet can pay with, in base units. */
export interface WalletFunds {
  /** Null if the rail can't read balances. */
  readonly balance: bigint | null
  /** The amount that the wallet lets Permit2 move; null if its payments need no allowance. */
  readonly allowance: bigint | null
  /** The nonce of the wallet's next permit (EIP-2612), if a payment may bring the allowance. */
  readonly permitNonce?: bigint
}

/** A transfer of a token to or from us, as logged by its contract. Addresses are in lower case. */
export interface ChainTransfer {
  readonly direction: "received" | "refunded"
  readonly transaction: string
  readonly block: bigint
  /** The counterparty: the payer, or the recipient of a refund. */
  readonly wallet: string
  /** Our side, if the counterparty is a wallet of ours too. A transfer from our refund wallet to us is listed in both directions. */
  readonly ownWallet?: string
  /** Base units of the token. */
  readonly amount: bigint
}

/** A transfer of a token in a transaction. Addresses are in lower case. */
export interface TransactionTransfer {
  /** As in `CandidateTransfer`. */
  readonly transferId: string
  readonly from: string
  readonly to: string
  /** Base units of the token. */
  readonly amount: bigint
}

/** The description of a paid service in its challenge: `resource` of x402 version 2 (section 5.1.1). */
export interface ChallengeResource {
  readonly url: string
  readonly description: string
  /** The media type of the answer. */
  readonly mimeType?: string
  /** The name that directories show: at most 32 printable ASCII characters, as are the tags. */
  readonly serviceName?: string
  /** At most 5. */
  readonly tags?: ReadonlyArray<string>
  readonly iconUrl?: string
}

/** Extensions of x402 by their identifiers, each with `info` and `schema`. Clients echo those of a challenge. */
export type Extensions = Readonly<Record<string, Schema.Json>>

/** The parts of a challenge that are the same for many requests. */
export interface ChallengeDocument {
  readonly error: string | undefined
  readonly resource: ChallengeResource
  /** The terms without their bindings. */
  readonly accepts: ReadonlyArray<PaymentTerms>
  readonly extensions: Extensions
}

/** A settled payment, as PAYMENT-RESPONSE reports it. */
export interface SettledPayment {
  readonly network: string
  /** The transaction that paid. */
  readonly transaction: string
  readonly payer: string
  /** Base units of the token. */
  readonly amount: bigint
  /** Whether the payment was refunded and bought nothing. */
  readonly isRefunded: boolean
  readonly extensions: Extensions
}

/**
 * The port to the payment network: writes and reads the x402 headers, checks and submits authorizations, and reads
 * their outcome from the chain.
 */
export class PaymentRail extends Context.Service<
  PaymentRail,
  {
    /**
     * Returns the terms for an amount, one per configured network, best first. `extra` lacks the binding to a request. While
     * the terms of an amount do not change, a rail may return the same array; challenges with it are prepared once.
     */
    readonly terms: (amount: bigint) => ReadonlyArray<PaymentTerms>
    /**
     * Returns those of the terms that are sold now: a network is left out while a payment on it would cost too much gas. The
     * same array as `terms` returns if all are sold, and the same as before while nothing changes.
     */
    readonly offers: (amount: bigint) => ReadonlyArray<PaymentTerms>
    /**
     * Prepares the values of the PAYMENT-REQUIRED header that have this document in common. The result adds the bindings
     * to `extra` of the terms, in order, after their own fields.
     */
    readonly challengeEncoder: (document: ChallengeDocument) => (bindings: ReadonlyArray<ChallengeBinding>) => string
    /** Decodes the PAYMENT-SIGNATURE header. Checks only its shape and its limits. */
    readonly decodeProof: (header: string) => Effect.Effect<PaymentProof, ProofMalformed>
    /**
     * Returns whether the payer bound the authorization's nonce to a challenge other than that of these terms, or to
     * another server than that of `url`, the public URL of the resource. Computed locally. False for a nonce that is
     * bound to nothing.
     */
    readonly isBoundElsewhere: (proof: PaymentProof, terms: PaymentTerms, url: string) => boolean
    /**
     * Fails unless the payer signed this authorization. Computed locally for a key. A smart account is asked on the
     * chain: its node sees the signature, and fails with `ProviderError` if it can't be asked. Such an account may
     * answer differently later, so this proves nothing about the settlement.
     */
    readonly authenticate: (proof: PaymentProof) => Effect.Effect<void, ProofInvalid | ProviderError>
    /**
     * Checks whether the authorization could settle now: amount, recipient and time window against the terms, the
     * payer's balance and allowance, and whether it can be submitted at all. Reveals the signature to no other system.
     */
    readonly verify: (
      proof: PaymentProof,
      terms: PaymentTerms
    ) => Effect.Effect<void, ProofInvalid | AllowanceRequired | ProviderError>
    /** Reads the funds of a wallet (in lower case) in an offered token from the chain. */
    readonly readFunds: (token: Token, wallet: string) => Effect.Effect<WalletFunds, ProviderError>
    /** Reads from the chain whether the nonce is used. */
    readonly readNonce: (proof: PaymentProof) => Effect.Effect<NonceReading, ProviderError>
    /**
     * Simulates the transfer on the chain. Fails with `ProofInvalid` if it would fail now. The node sees the signature,
     * and so does the system that settles: call neither before the operation is claimed.
     */
    readonly simulate: (proof: PaymentProof, terms: PaymentTerms) => Effect.Effect<void, ProofInvalid | ProviderError>
    /** Submits the authorization. Returns `Unknown` for everything but a clear success or a clear refusal. */
    readonly settle: (proof: PaymentProof, terms: PaymentTerms) => Effect.Effect<SettleAnswer>
    /**
     * Determines the outcome of the authorization from the chain alone. A use in block `afterBlock` or earlier is
     * `UsedOtherwise`. `transaction`, if known, is read first.
     */
    readonly findSettlement: (
      proof: PaymentProof,
      terms: PaymentTerms,
      afterBlock: bigint,
      transaction?: string
    ) => Effect.Effect<Settlement, ProviderError>
    /** Returns the newest block older than `moment`. Everything from that moment on is in a later block. */
    readonly blockBefore: (token: Token, moment: Timestamp) => Effect.Effect<bigint, ProviderError>
    /** Returns whether a refund wallet is configured for this token. */
    readonly canRefund: (token: Token) => boolean
    /**
     * Advances a refund from any point, including one started by a process that died. Reads the chain first, and
     * submits the refund only if its nonce is unused and the payment itself is final. Idempotent: the money moves once.
     * Fails with `Misconfigured` if no refund wallet is configured.
     */
    readonly refund: (refund: Refund) => Effect.Effect<RefundProgress, ProviderError>
    /**
     * Returns the progress of a refund that this service has submitted, as the chain shows it: none if it shows nothing.
     * Submits nothing.
     */
    readonly findRefund: (refund: Refund) => Effect.Effect<Option.Option<RefundProgress>, ProviderError>
    /** Whether the rail has `transfers`. Without it, transfers that belong to no operation can't be found. */
    readonly listsTransfers: boolean
    /**
     * Returns the transfers of a token to us, and from the refund wallet, from a block on, oldest first. One call reads
     * a bounded number of blocks; `nextBlock` is the first block of the next call, or null at the chain's head. Fails with
     * `Misconfigured` if the rail does not list transfers.
     */
    readonly transfers: (
      token: Token,
      fromBlock: bigint
    ) => Effect.Effect<
      { readonly transfers: ReadonlyArray<ChainTransfer>; readonly nextBlock: bigint | null },
      ProviderError
    >
    /**
     * Returns the transfers of a token in one transaction, between any wallets, and whether its block is final: no
     * reorganization removes it. None while no block contains it.
     */
    readonly readTransfers: (
      token: Token,
      transaction: string
    ) => Effect.Effect<
      Option.Option<{ readonly isFinal: boolean; readonly transfers: ReadonlyArray<TransactionTransfer> }>,
      ProviderError
    >
    /** Returns the value of PAYMENT-RESPONSE for a settled payment. Equal for equal values. */
    readonly encodeReceipt: (payment: SettledPayment) => string
  }
>()("@agentos/core/payment/PaymentRail") {}
