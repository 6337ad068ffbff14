import { createHmac, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto"
import { Bytes, Keyring, type MacPurpose } from "@agentos/core"
import { Effect, Layer } from "effect"
import * as KeyMaterial from "./KeyMaterial.ts"

/** Every purpose of the port. A purpose that is missing here is a compile error. */
const PURPOSES: Readonly<Record<MacPurpose, null>> = {
  "access-token": null,
  challenge: null,
  "challenge-terms": null,
  cursor: null,
  "callback-secret": null,
  "refund-nonce": null,
  "relay-token": null,
  "return-path": null,
  "sign-in": null,
  "webhook-secret": null
}

/** The prefix of every message of a purpose. No purpose contains a zero byte, so no prefix is the start of another. */
const prefixOf = (purpose: string): Uint8Array => Bytes.fromText(`${purpose}\0`)

/** The DER of an Ed25519 private key (RFC 8410, section 7) up to its 32 bytes. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex")

/** Returns the Ed25519 key whose seed is a key derived for signing. */
const signingKey = (seed: KeyObject): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed.export()]), format: "der", type: "pkcs8" })

const PUBLIC_KEY_LENGTH = 32

/** Returns the 32 bytes of a public key, which end its DER (RFC 8410, section 4). */
const publicKeyOf = (key: KeyObject): Uint8Array =>
  new Uint8Array(createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-PUBLIC_KEY_LENGTH))

/** Random bytes are read from the system this many at a time, because each read is a call of the system. */
const RANDOM_POOL_BYTES = 4_096

/** Returns a function that returns random bytes, each of them once. */
const randomSource = () => {
  let pool = Buffer.alloc(0)
  let used = 0
  return (length: number): Uint8Array => {
    if (length > RANDOM_POOL_BYTES) return new Uint8Array(randomBytes(length))
    if (length > pool.length - used) {
      pool = randomBytes(RANDOM_POOL_BYTES)
      used = 0
    }
    const bytes = new Uint8Array(pool.subarray(used, used + length))
    pool.fill(0, used, used + length)
    used += length
    return bytes
  }
}

/**
 * The key ring on node:crypto. A MAC is HMAC-SHA256 over the purpose, a zero byte and the message. Its key is derived
 * for the purpose once, when the layer is built.
 *
 * Fails with `KeyringMisconfigured` on a duplicate id or secret, a secret that is too short, an id out of range, or an
 * active key that is not in the ring.
 */
export const layer = (config: KeyMaterial.KeyringConfig): Layer.Layer<Keyring, KeyMaterial.KeyringMisconfigured> =>
  Layer.effect(
    Keyring,
    Effect.gen(function* () {
      const material = yield* KeyMaterial.make(config)
      const rings = new Map(
        Object.keys(PURPOSES).map((purpose) => [purpose, { keys: material.derive(purpose), prefix: prefixOf(purpose) }])
      )
      const signingKeys = new Map(
        Array.from(material.derive("signature"), ([keyId, seed]) => [keyId, signingKey(seed)])
      )
      const activeSigningKey = signingKeys.get(material.activeKeyId)
      if (activeSigningKey === undefined) return yield* Effect.die(new Error("key material without its active key"))
      const takeRandom = randomSource()
      return Keyring.of({
        activeKeyId: material.activeKeyId,
        sign: (message) => ({
          keyId: material.activeKeyId,
          bytes: new Uint8Array(sign(null, message, activeSigningKey))
        }),
        verificationKeys: Array.from(signingKeys, ([keyId, key]) => ({ keyId, publicKey: publicKeyOf(key) })),
        mac: (keyId, purpose, message) => {
          const ring = rings.get(purpose)
          const key = ring?.keys.get(keyId)
          if (ring === undefined || key === undefined) return undefined
          const digest = createHmac("sha256", key).update(ring.prefix).update(message).digest("binary")
          // A digest as bytes would be in memory of its own, which takes longer to allocate than to encode.
          return new Uint8Array(Buffer.from(digest, "binary"))
        },
        randomBytes: (length) => Effect.sync(() => takeRandom(length))
      })
    })
  )
