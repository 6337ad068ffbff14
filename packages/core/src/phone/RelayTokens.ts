import { Effect, Redacted } from "effect"
import { Base64Url, Hex } from "effect/encoding"
import { Keyring } from "../kernel/Keyring.ts"

/** Of the secret in a relay's address. */
const TOKEN_BYTES = 32

/** The secret by which a carrier's socket is let in to one call, once; and what is stored of it. */
export interface RelayToken {
  readonly token: Redacted.Redacted<string>
  readonly hash: string
}

/** A new token. */
export const make: Effect.Effect<RelayToken, never, Keyring> = Effect.gen(function* () {
  const { randomBytes } = yield* Keyring
  const token = Base64Url.encode(yield* randomBytes(TOKEN_BYTES))
  return { token: Redacted.make(token), hash: yield* hashOf(token) }
})

/** What is stored of a token: nothing that opens a call. */
export const hashOf = (token: string): Effect.Effect<string, never, Keyring> =>
  Effect.map(Keyring, ({ activeKeyId, mac }) =>
    Hex.encode(mac(activeKeyId, "relay-token", new TextEncoder().encode(token))!)
  )
