import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto"
import { Effect, Redacted, Result, Schema } from "effect"

/** Minimum length of a secret in bytes: the output length of HMAC-SHA256 (RFC 2104, section 3). */
const SECRET_LENGTH_MIN = 32

/** One secret of the server, as configured by the operator. */
export interface KeySecret {
  /** 1 to 255. Everything made under the key contains its id, so an id must never be reused for another secret. */
  readonly id: number
  /** Random text of at least 32 bytes in UTF-8, such as the output of `openssl rand -base64 32`. */
  readonly secret: Redacted.Redacted<string>
}

/**
 * The server's secrets. To rotate them: add a key on every server, make it active, and remove the old one when nothing
 * made under it is needed any more.
 */
export interface KeyringConfig {
  /** The id of the key for new values. */
  readonly activeKeyId: number
  readonly keys: ReadonlyArray<KeySecret>
}

/** The configured keys are not valid. `message` states the problem and contains no secret. */
export class KeyringMisconfigured extends Schema.TaggedError<KeyringMisconfigured>()("KeyringMisconfigured", {
  message: Schema.String
}) {}

/** Keys of one purpose, by the id of the secret that they are derived from. */
export type DerivedKeys = ReadonlyMap<number, KeyObject>

/** The validated secrets. They are exposed only as keys derived for a purpose. */
export interface KeyMaterial {
  readonly activeKeyId: number
  readonly derive: (purpose: string) => DerivedKeys
}

/** The salt of HKDF (RFC 5869). It separates these keys from any other use of the same secrets. */
const SALT = "agentos.keyring.v1"
const KEY_LENGTH = 32

const deriveKey = (secret: Redacted.Redacted<string>, purpose: string): KeyObject =>
  createSecretKey(new Uint8Array(hkdfSync("sha256", Redacted.value(secret), SALT, purpose, KEY_LENGTH)))

/** Returns why the keys are not valid, or undefined. The text contains no secret. */
export const keyringFlaw = ({ activeKeyId, keys }: KeyringConfig): string | undefined => {
  const ids = new Set<number>()
  const secrets = new Map<string, number>()
  for (const { id, secret } of keys) {
    if (!Number.isInteger(id) || id < 1 || id > 255) return `key id ${id} must be a whole number from 1 to 255`
    if (ids.has(id)) return `two keys have the id ${id}`
    ids.add(id)
    const text = Redacted.value(secret)
    if (Buffer.byteLength(text) < SECRET_LENGTH_MIN) {
      return `the secret of key ${id} must have at least ${SECRET_LENGTH_MIN} bytes. Generate one: openssl rand -base64 32`
    }
    const twin = secrets.get(text)
    if (twin !== undefined) return `keys ${twin} and ${id} have the same secret`
    secrets.set(text, id)
  }
  if (!ids.has(activeKeyId)) return `the active key ${activeKeyId} is not in the list`
  return undefined
}

/**
 * Reads keys from `1:secret,2:secret`. The highest id is active by default. Fails with the required form of the text,
 * or with the flaw of its keys; neither contains a secret.
 */
export const parseKeyring = (text: string, activeKeyId?: number): Result.Result<KeyringConfig, string> => {
  const keys = text
    .split(",")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const [id = ""] = pair.split(":", 1)
      return { id: Number(id || Number.NaN), secret: Redacted.make(pair.slice(id.length + 1)) }
    })
  if (keys.length === 0 || keys.some(({ id }) => !Number.isInteger(id))) {
    return Result.fail("must be comma-separated id:secret pairs, for example 1:$(openssl rand -base64 32)")
  }
  const config = { keys, activeKeyId: activeKeyId ?? Math.max(...keys.map(({ id }) => id)) }
  const flaw = keyringFlaw(config)
  return flaw === undefined ? Result.succeed(config) : Result.fail(`are not valid: ${flaw}`)
}

/**
 * Validates the configuration. The key of each purpose is derived by HKDF-SHA256 (RFC 5869), so that it reveals nothing
 * about the key of another purpose.
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
