import type { Timestamp } from "@agentos/core"
import { Context, Effect } from "effect"

/** An account on a chain that pays for gas. */
export interface GasWallet {
  /** CAIP-2 id of the chain. */
  readonly network: string
  /** In lower case. */
  readonly address: string
}

/** A signed transaction. Broadcasting it repeatedly has one effect. */
export interface SignedTransaction {
  /** `0x` and 64 digits. */
  readonly hash: string
  /** The signed bytes, in hex with `0x`. */
  readonly bytes: string
}

/** A transaction of a gas wallet, stored from its signing until the chain has used its account nonce. */
export interface GasTransaction {
  readonly wallet: GasWallet
  /** The account nonce; unique among the wallet's transactions. */
  readonly accountNonce: number
  /** Identifies the purpose of the transaction, so that a repeated request finds it. */
  readonly reference: string
  /** Every signed version, the newest last: the same account nonce at a higher gas price. Never empty. */
  readonly versions: ReadonlyArray<SignedTransaction>
  readonly createdAt: Timestamp.Timestamp
  /** When the newest version was signed. */
  readonly signedAt: Timestamp.Timestamp
}

/**
 * The port that stores the signed transactions of gas wallets, so that several servers can share a wallet and none
 * forgets a transaction that it has sent.
 *
 * The account nonces of a wallet are allocated without gaps: each is stored with its signed bytes in one transaction,
 * or not at all. One address on two networks is two wallets, and no wallet waits for another. An address that is not in
 * lower case is a defect, because it would be counted separately. Timestamps are on the store's clock.
 */
export class GasTransactionStore extends Context.Service<
  GasTransactionStore,
  {
    /**
     * Allocates the wallet's next account nonce (at least `accountNonceMin`, the next one that the chain expects), has
     * the transaction signed and stores the bytes, all under the wallet's lock in one transaction. If an open
     * transaction has the same reference, returns that one and signs nothing.
     *
     * `sign` must only compute and make no external call, since every other `open` of the wallet waits for it. When it
     * fails, dies or is interrupted, nothing is stored and the next call gets the same nonce. Broadcast the signed
     * bytes only after this has succeeded.
     */
    readonly open: <E>(
      transaction: { readonly wallet: GasWallet; readonly reference: string; readonly accountNonceMin: number },
      sign: (accountNonce: number) => Effect.Effect<SignedTransaction, E>
    ) => Effect.Effect<GasTransaction, E>
    /**
     * Adds a version to an open transaction whose newest version is `previousHash`. Returns false, and writes nothing,
     * if another version is newer or the transaction is closed. Broadcast a version only after this returned true.
     */
    readonly reprice: (
      transaction: Pick<GasTransaction, "wallet" | "accountNonce">,
      previousHash: string,
      version: SignedTransaction
    ) => Effect.Effect<boolean>
    /** Returns up to `limit` open transactions of a wallet, by ascending account nonce. */
    readonly listOpen: (wallet: GasWallet, limit: number) => Effect.Effect<ReadonlyArray<GasTransaction>>
    /**
     * Closes and deletes every open transaction of the wallet with an account nonce below `accountNonce`. The caller
     * has established that the chain has used these nonces finally. They are never allocated again; their references
     * can be used again.
     */
    readonly closeBelow: (wallet: GasWallet, accountNonce: number) => Effect.Effect<void>
  }
>()("@agentos/x402/GasTransactionStore") {}
