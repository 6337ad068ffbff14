import { Context, Effect } from "effect"

/**
 * What a MAC is for. It is part of what is authenticated, so that a value
 * made for one purpose is worth nothing for another.
 */
export type MacPurpose = "access-token" | "challenge" | "cursor" | "callback-secret" | "refund-nonce" | "relay-token"

/**
 * The server's secret keys, each with an id from 1 to 255. New values are made
 * under the active key; values under older keys stay valid until their key is
 * taken out of the ring.
 */
export class Keyring extends Context.Service<
  Keyring,
  {
    /** The id of the key that new values are made under. */
    readonly activeKeyId: number
    /** HMAC-SHA256 (32 bytes) over purpose and message, or undefined when the ring has no key of that id. */
    readonly mac: (keyId: number, purpose: MacPurpose, message: Uint8Array) => Uint8Array | undefined
    /** Bytes nobody can guess. */
    readonly randomBytes: (length: number) => Effect.Effect<Uint8Array>
  }
>()("@agentos/core/kernel/Keyring") {}
