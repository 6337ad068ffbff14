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

/** A transaction of a gas wallet, from its signing until the chain has taken its account nonce. */
export interface GasTransaction {
  readonly wallet: GasWallet
  /** The account nonce, which no other transaction of the wallet has. */
  readonly accountNonce: number
  /** What it does, for whoever asks for the same again. */
  readonly reference: string
  /** Every version that was signed, the newest last: the same transaction at a higher price. */
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
 * signed bytes, in one transaction, or not at all.
 */
export class GasTransactionStore extends Context.Service<
  GasTransactionStore,
  {
    /**
     * Gives out the wallet's next account nonce (at least `accountNonceMin`, which is what the chain expects next),
     * has it signed and stores the bytes, all under the wallet's lock in one transaction. An open transaction of the
     * same reference is answered instead, and nothing is signed. `sign` computes alone: it asks nobody.
     * A failure of `sign` gives the nonce back.
     */
    readonly open: <E>(
      transaction: { readonly wallet: GasWallet; readonly reference: string; readonly accountNonceMin: number },
      sign: (accountNonce: number) => Effect.Effect<SignedTransaction, E>
    ) => Effect.Effect<GasTransaction, E>
    /** Adds a version to an open transaction whose newest is `previousHash`; false when it is not any more. */
    readonly reprice: (
      transaction: Pick<GasTransaction, "wallet" | "accountNonce">,
      previousHash: string,
      version: SignedTransaction
    ) => Effect.Effect<boolean>
    /** Open transactions of a wallet, by ascending account nonce; `limit` at most. */
    readonly listOpen: (wallet: GasWallet, limit: number) => Effect.Effect<ReadonlyArray<GasTransaction>>
    /** Closes every open transaction of the wallet with an account nonce below `accountNonce`: the chain has taken them. */
    readonly closeBelow: (wallet: GasWallet, accountNonce: number) => Effect.Effect<void>
  }
>()("@agentos/core/payment/GasTransactionStore") {}
