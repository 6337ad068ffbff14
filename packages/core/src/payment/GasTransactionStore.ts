import { Context, Effect } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"

/** An account on a chain that pays for gas. */
export interface GasWallet {
  /** CAIP-2 id of the chain. */
  readonly network: string
  /** In lower case. */
  readonly address: string
}

/** A transaction as it can be broadcast, again and again, with one effect. */
export interface SignedTransaction {
  /** `0x` and 64 digits. */
  readonly hash: string
  /** The signed bytes, in hex with `0x`. */
  readonly bytes: string
}

/** A transaction of a gas wallet, kept from its signing until the chain has taken its account nonce. */
export interface GasTransaction {
  readonly wallet: GasWallet
  /** The account nonce, which no other transaction of the wallet has. */
  readonly accountNonce: number
  /** What it does, for whoever asks for the same again. */
  readonly reference: string
  /** Every version that was signed, the newest last: the same account nonce at a higher price. One at least. */
  readonly versions: ReadonlyArray<SignedTransaction>
  readonly createdAt: Timestamp
  /** When the newest version was signed. */
  readonly signedAt: Timestamp
}

/**
 * The port that keeps what gas wallets have signed, so that several servers can
 * share a wallet and none forgets what it has sent.
 *
 * Account nonces of a wallet are given out without a gap: each comes with its
 * signed bytes, in one transaction, or not at all. One address on two networks
 * is two wallets, and no wallet waits for another. An address that is not in
 * lower case is a defect, since it would count on its own. Moments are on the
 * store's clock.
 */
export class GasTransactionStore extends Context.Service<
  GasTransactionStore,
  {
    /**
     * Gives out the wallet's next account nonce (at least `accountNonceMin`, which is what the chain expects
     * next), has it signed and stores the bytes, all under the wallet's lock in one transaction. An open
     * transaction of the same reference is answered instead, and nothing is signed.
     *
     * `sign` computes alone: it asks nobody, since every other `open` of the wallet waits for it. When it fails,
     * dies or is interrupted, nothing is stored and the next one is given the same nonce. What it signed
     * may be broadcast once this has succeeded, and not before.
     */
    readonly open: <E>(
      transaction: { readonly wallet: GasWallet; readonly reference: string; readonly accountNonceMin: number },
      sign: (accountNonce: number) => Effect.Effect<SignedTransaction, E>
    ) => Effect.Effect<GasTransaction, E>
    /**
     * Adds a version to an open transaction whose newest is `previousHash`; false, and nothing is written, when
     * that is not its newest any more, or it is closed. Broadcast a version only when this was true.
     */
    readonly reprice: (
      transaction: Pick<GasTransaction, "wallet" | "accountNonce">,
      previousHash: string,
      version: SignedTransaction
    ) => Effect.Effect<boolean>
    /** Open transactions of a wallet, by ascending account nonce; `limit` at most. */
    readonly listOpen: (wallet: GasWallet, limit: number) => Effect.Effect<ReadonlyArray<GasTransaction>>
    /**
     * Closes every open transaction of the wallet with an account nonce below `accountNonce`, and forgets
     * them: the chain has taken their nonces, for good as far as the caller can tell. Their nonces are never
     * given out again; their references may come again.
     */
    readonly closeBelow: (wallet: GasWallet, accountNonce: number) => Effect.Effect<void>
  }
>()("@agentos/core/payment/GasTransactionStore") {}
