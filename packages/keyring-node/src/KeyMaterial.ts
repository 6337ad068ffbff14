import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto"
import { Effect, Redacted, Schema } from "effect"

/** Fewest bytes of a secret: as many as HMAC-SHA256 gives (RFC 2104, section 3). */
export const SECRET_LENGTH_MIN = 32

/** One secret of the server, as an operator configures it. */
export interface KeySecret {
  /** 1 to 255. It stands in everything made under the key, so it is never given to another secret. */
  readonly id: number
  /** Random text of at least 32 bytes in UTF-8, as `openssl rand -base64 32` prints it. */
  readonly secret: Redacted.Redacted<string>
}

/**
 * The server's secrets. To rotate: add a key, let every server have it, make it
 * active, and take the old one out when nothing made under it is needed any more.
 */
export interface KeyringConfig {
  /** The id of the key that new values are made under. */
  readonly activeKeyId: number
  readonly keys: ReadonlyArray<KeySecret>
}

/** The configured keys can't be used. `message` says why, and holds no secret. */
export class KeyringMisconfigured extends Schema.TaggedError<KeyringMisconfigured>()("KeyringMisconfigured", {
  message: Schema.String
}) {}

/** Keys of one purpose, by the id of the secret that they are derived from. */
export type DerivedKeys = ReadonlyMap<number, KeyObject>

/** The configured secrets, checked. They leave it only as keys derived for a purpose. */
export interface KeyMaterial {
  readonly activeKeyId: number
  readonly derive: (purpose: string) => DerivedKeys
}

/** HKDF's salt (RFC 5869): separates these keys from those of any other use of the same secrets. */
const SALT = "agentos.keyring.v1"
const KEY_LENGTH = 32

const deriveKey = (secret: Redacted.Redacted<string>, purpose: string): KeyObject =>
  createSecretKey(new Uint8Array(hkdfSync("sha256", Redacted.value(secret), SALT, purpose, KEY_LENGTH)))

/** Why these keys can't be used, or undefined. It holds no secret. */
export const keyringFlaw = ({ activeKeyId, keys }: KeyringConfig): string | undefined => {
  const ids = new Set<number>()
  const secrets = new Map<string, number>()
  for (const { id, secret } of keys) {
    if (!Number.isInteger(id) || id < 1 || id > 255) return `key id ${id} is not a whole number from 1 to 255`
    if (ids.has(id)) return `two keys have the id ${id}`
    ids.add(id)
    const text = Redacted.value(secret)
    if (Buffer.byteLength(text) < SECRET_LENGTH_MIN) {
      return `the secret of key ${id} is shorter than ${SECRET_LENGTH_MIN} bytes; make one by: openssl rand -base64 32`
    }
    const twin = secrets.get(text)
    if (twin !== undefined) return `keys ${twin} and ${id} have the same secret`
    secrets.set(text, id)
  }
  if (!ids.has(activeKeyId)) return `the active key ${activeKeyId} is not among the keys`
  return undefined
}

/**
 * Checks the configuration. A key of each purpose is derived from a secret by
 * HKDF-SHA256 (RFC 5869), so that a key of one says nothing about another's.
 */
export const make = (config: KeyringConfig): Effect.Effect<KeyMaterial, KeyringMisconfigured> => {
  const flaw = keyringFlaw(config)
  if (flaw !== undefined) return Effect.fail(new KeyringMisconfigured({ message: `Key ring: ${flaw}.` }))
  const keys = [...config.keys]
  return Effect.succeed({
    activeKeyId: config.activeKeyId,
    derive: (purpose) => new Map(keys.map(({ id, secret }) => [id, deriveKey(secret, purpose)]))
  })
}
