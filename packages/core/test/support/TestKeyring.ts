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
    randomBytes: (length) => Effect.sync(() => new Uint8Array(length).fill(++counter))
  }
}

export const layer = Layer.succeed(Keyring, testKeyring([1], 1))
