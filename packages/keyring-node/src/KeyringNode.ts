import { createHmac, randomBytes } from "node:crypto"
import { Bytes, Keyring, type MacPurpose } from "@agentos/core"
import { Effect, Layer } from "effect"
import * as KeyMaterial from "./KeyMaterial.ts"

/** Every purpose of the port. A purpose that is missing here is a compile error. */
const PURPOSES: Readonly<Record<MacPurpose, null>> = {
  "access-token": null,
  challenge: null,
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
      return Keyring.of({
        activeKeyId: material.activeKeyId,
        mac: (keyId, purpose, message) => {
          const ring = rings.get(purpose)
          const key = ring?.keys.get(keyId)
          if (ring === undefined || key === undefined) return undefined
          return new Uint8Array(createHmac("sha256", key).update(ring.prefix).update(message).digest())
        },
        randomBytes: (length) => Effect.sync(() => new Uint8Array(randomBytes(length)))
      })
    })
  )
