import { Context, Effect } from "effect"

/**
 * The purpose of a MAC. It is authenticated too, so that a value made for one purpose is not valid for another.
 */
export type MacPurpose =
  | "access-token"
  | "challenge"
  | "cursor"
  | "callback-secret"
  | "refund-nonce"
  | "relay-token"
  | "return-path"
  | "sign-in"
  | "webhook-secret"

/**
 * The server's secret keys, each with an id from 1 to 255. The active key authenticates new values; values under older
 * keys stay valid until their key is removed from the ring.
 */
export class Keyring extends Context.Service<
  Keyring,
  {
    /** The id of the key that authenticates new values. */
    readonly activeKeyId: number
    /** Returns the HMAC-SHA256 (32 bytes) over purpose and message, or undefined if the ring has no key of that id. */
    readonly mac: (keyId: number, purpose: MacPurpose, message: Uint8Array) => Uint8Array | undefined
    /** Returns cryptographically secure random bytes. */
    readonly randomBytes: (length: number) => Effect.Effect<Uint8Array>
  }
>()("@agentos/core/kernel/Keyring") {}
