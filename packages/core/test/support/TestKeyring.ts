import { Keyring } from "@agentos/core"
import { Effect, Layer } from "effect"
import { createHmac } from "node:crypto"

/** A keyring whose keys are derived from their ids and whose random bytes count up: every run gives the same values. */
export const testKeyring = (keyIds: ReadonlyArray<number>, activeKeyId: number): Keyring["Service"] => {
  let counter = 0
  return {
    activeKeyId,
    mac: (keyId, purpose, message) =>
      keyIds.includes(keyId)
        ? createHmac("sha256", `key ${keyId}`).update(`${purpose}\u0000`).update(message).digest()
        : undefined,
    sign: (message) => ({
      keyId: activeKeyId,
      bytes: createHmac("sha512", `key ${activeKeyId}`).update(message).digest()
    }),
    verificationKeys: keyIds.map((keyId) => ({ keyId, publicKey: new Uint8Array(32).fill(keyId) })),
    randomBytes: (length) => Effect.sync(() => new Uint8Array(length).fill(++counter))
  }
}

export const layer = Layer.succeed(Keyring, testKeyring([1], 1))
