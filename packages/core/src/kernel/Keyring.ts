import { Context, Effect } from "effect"

/** The purpose of a MAC. It is authenticated too, so that a value made for one purpose is not valid for another. */
export type MacPurpose =
  | "access-token"
  | "challenge"
  | "challenge-terms"
  | "cursor"
  | "callback-secret"
  | "refund-nonce"
  | "relay-token"
  | "return-path"
  | "sign-in"
  | "webhook-secret"

export interface Signature {
  /** The id of the key in the ring that signed. */
  readonly keyId: number
  readonly bytes: Uint8Array
}

export interface VerificationKey {
  readonly keyId: number
  /** The 32 bytes of an Ed25519 public key. */
  readonly publicKey: Uint8Array
}

/**
 * The server's secret keys, each with an id from 1 to 255. The active key authenticates new values; values under older
 * keys stay valid until their key is removed from the ring.
 */
export class Keyring extends Context.Service<
  Keyring,
  {
    /** The id of the key that authenticates new values. */
    readonly activeKeyId: number
    /**
     * Returns the HMAC-SHA256 (32 bytes) over purpose and message, or undefined if the ring has no key of that id. A text
     * stands for its bytes in UTF-8.
     */
    readonly mac: (keyId: number, purpose: MacPurpose, message: Uint8Array | string) => Uint8Array | undefined
    /**
     * Signs a message under the active key by Ed25519 (RFC 8032): the same key and message give the same signature of 64
     * bytes. Anyone can verify it with `verificationKeys`.
     */
    readonly sign: (message: Uint8Array) => Signature
    /** The public keys of `sign`, one for each key in the ring, so that older signatures stay verifiable. */
    readonly verificationKeys: ReadonlyArray<VerificationKey>
    /** Returns cryptographically secure random bytes. */
    readonly randomBytes: (length: number) => Effect.Effect<Uint8Array>
  }
>()("@agentos/core/kernel/Keyring") {}
