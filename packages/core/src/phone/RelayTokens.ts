import { Effect, Redacted } from "effect"
import { Base64Url, Hex } from "effect/encoding"
import { Keyring } from "../kernel/Keyring.ts"

/** The length of the secret in a relay's URL. */
const TOKEN_BYTES = 32

/** The secret that admits one socket of the carrier to one call, once; and the hash of it that is stored. */
export interface RelayToken {
  readonly token: Redacted.Redacted<string>
  readonly hash: string
}

export const make: Effect.Effect<RelayToken, never, Keyring> = Effect.gen(function* () {
  const { randomBytes } = yield* Keyring
  const token = Base64Url.encode(yield* randomBytes(TOKEN_BYTES))
  return { token: Redacted.make(token), hash: yield* hashOf(token) }
})

/** Returns the stored form of a token, which does not admit to a call. */
export const hashOf = (token: string): Effect.Effect<string, never, Keyring> =>
  Effect.map(Keyring, ({ activeKeyId, mac }) =>
    Hex.encode(mac(activeKeyId, "relay-token", new TextEncoder().encode(token))!)
  )
