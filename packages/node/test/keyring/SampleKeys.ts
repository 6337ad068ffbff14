import { Redacted } from "effect"
import type { KeyringConfig } from "../../src/keyring/index.ts"

export const firstSecret = "first secret of the test, 32 bytes long at least"
export const secondSecret = "second secret of the test, also 32 bytes and more"

/** Returns a ring of the given secrets with the ids 1, 2 and so on. The key with `activeKeyId` is active. */
export const ringOf = (activeKeyId: number, ...secrets: ReadonlyArray<string>): KeyringConfig => ({
  activeKeyId,
  keys: secrets.map((secret, index) => ({ id: index + 1, secret: Redacted.make(secret) }))
})
