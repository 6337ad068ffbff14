import type { PaymentProof, PaymentTerms, ProviderError, Settlement, WalletFunds } from "@agentos/core"
import type { Effect, Option } from "effect"
import type { Address, Hex } from "viem"
import type { BroughtAllowance } from "../header/GasSponsoring.ts"
import type { AuthorizedTransfer } from "../network/AuthorizedTransfer.ts"
import type { TransferMethodName } from "../network/PaymentNetwork.ts"

/** A payment whose outcome is determined. */
export interface SettlementQuery {
  readonly proof: Pick<PaymentProof, "payer" | "nonce" | "validBefore">
  readonly terms: Pick<PaymentTerms, "payTo" | "amount">
  /** A use in this block or an earlier one is not a payment made here. */
  readonly afterBlock: bigint
  /** Checked first, if given. */
  readonly transaction: string | undefined
  /** Number of blocks that must follow a use before it decides anything. */
  readonly confirmations: number
}

/** A settled payment that is looked up again, and the transaction in which it was seen. */
export interface PaymentQuery {
  readonly proof: Pick<PaymentProof, "payer" | "nonce">
  readonly terms: Pick<PaymentTerms, "payTo" | "amount">
  readonly afterBlock: bigint
  readonly transaction: string
}

/** A transfer that the wallet `from` may have authorized and no one else can have. */
export interface OwnTransferQuery {
  readonly from: Hex
  readonly to: string
  readonly value: bigint
  readonly nonce: Hex
  readonly afterBlock: bigint
  /** Checked first, if given. */
  readonly transaction: string | undefined
  readonly confirmations: number
}

/** A transaction that a wallet must send before its tokens can be moved. */
export interface MissingApproval {
  readonly to: Address
  readonly data: Hex
  /** The amount that the wallet has allowed before, in base units. */
  readonly allowance: bigint
}

/**
 * A way in which payers authorize a transfer of a network's token by a signature (`assetTransferMethod` of x402's
 * scheme `exact`), with all that depends on it. Everything else of the payment rail is the same for every method.
 *
 * Payers, wallets and nonces are given in lower case. Only `simulate` shows a signature to the node.
 */
export interface TransferMethod {
  readonly name: TransferMethodName
  /** The fields of `extra` that a client needs for its signature (specs/schemes/exact/scheme_exact_evm.md). */
  readonly extra: Readonly<Record<string, string>>
  /** Returns the 32 bytes that the payer signs. */
  readonly digest: (transfer: AuthorizedTransfer) => Hex
  /**
   * Returns the bytes that a client signs instead which decodes the UTF-8 of a challenge as Latin-1; undefined if they are the
   * same.
   */
  readonly garbledDigest: (transfer: AuthorizedTransfer) => Hex | undefined
  /** Returns the bytes that a client signs instead which leaves all fields of the domain out. */
  readonly bareDigest: (transfer: AuthorizedTransfer) => Hex
  /** Returns why a facilitator could not submit a smart account's signature, or undefined if it could. */
  readonly findFormFlaw: (signature: Hex) => string | undefined
  /** Returns the payload of the payment as clients encode it. */
  readonly payloadOf: (transfer: AuthorizedTransfer, signature: Hex) => Readonly<Record<string, unknown>>
  /** Reads the allowances of a wallet, and the nonce of the permit that its next payment may bring. */
  readonly readAllowance: (wallet: Hex) => Effect.Effect<Omit<WalletFunds, "balance">, ProviderError>
  /** Returns the approval that a wallet must give before it can pay an amount; undefined if it needs none. */
  readonly findMissingApproval: (
    wallet: Hex,
    amount: bigint
  ) => Effect.Effect<MissingApproval | undefined, ProviderError>
  /** Returns why what the payer brings could not be the approval that it misses; undefined if it could. Shows it to no one. */
  readonly findAllowanceFlaw: (
    brought: BroughtAllowance,
    transfer: AuthorizedTransfer
  ) => Effect.Effect<string | undefined, ProviderError>
  /**
   * Simulates the transfer in the newest block, after the allowance if the payer sent one. Returns why it would fail, or undefined if
   * it would succeed.
   */
  readonly simulate: (
    transfer: AuthorizedTransfer,
    signature: Hex,
    brought?: BroughtAllowance
  ) => Effect.Effect<string | undefined, ProviderError>
  /** Returns whether the nonce is used, by a transfer or otherwise, as of a block. */
  readonly isUsed: (payer: Hex, nonce: Hex, block: bigint | "latest") => Effect.Effect<boolean, ProviderError>
  /** Determines the outcome of an authorization from the chain alone, as `PaymentRail.findSettlement` promises. */
  readonly findSettlement: (query: SettlementQuery) => Effect.Effect<Settlement, ProviderError>
  /** Returns the block in which the chain shows a settled payment now; none if a reorganization has removed it. */
  readonly findPayment: (query: PaymentQuery) => Effect.Effect<Option.Option<bigint>, ProviderError>
  /** Determines the outcome of an authorization of a wallet whose key this deployment alone has. */
  readonly findOwnTransfer: (query: OwnTransferQuery) => Effect.Effect<Settlement, ProviderError>
  /** Checks the contracts of the network. Fails with `Misconfigured`, naming the difference. */
  readonly check: Effect.Effect<void, ProviderError>
}
