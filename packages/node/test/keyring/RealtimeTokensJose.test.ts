import { createHmac, hkdfSync } from "node:crypto"
import { inspect } from "node:util"
import { REALTIME_TOKEN_LIFETIME, RealtimeTokens, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type KeyringConfig, RealtimeTokensJose } from "../../src/keyring/index.ts"
import { firstSecret, ringOf, secondSecret } from "./SampleKeys.ts"

/** Of the test run: 1, unless TEST_SEED is another whole number or `random`. */
const SEED = process.env["TEST_SEED"] ?? "1"

const issuer = "https://agentos.test"
const tenantId = "01890a5d-ac96-774b-bcce-b302099a8057"
const at = (millis: number) => Timestamp.Timestamp.make(millis)

const tokensOf = (config: KeyringConfig = ringOf(1, firstSecret), from = issuer) =>
  Effect.provide(RealtimeTokens, RealtimeTokensJose.layer(config, { issuer: from }))

const issued = Effect.gen(function* () {
  const expiresAt = at((yield* Clock.currentTimeMillis) + REALTIME_TOKEN_LIFETIME)
  const claims = { tenantId, version: 3, expiresAt }
  return { claims, token: Redacted.value(yield* (yield* tokensOf()).issue(claims)) }
})

/** Signs with node:crypto alone, with the key that tokens of `firstSecret` use. */
const signed = (header: object, payload: object, hash = "sha256"): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const key = new Uint8Array(hkdfSync("sha256", firstSecret, "agentos.keyring.v1", "realtime-token", 32))
  const text = `${part(header)}.${part(payload)}`
  return `${text}.${createHmac(hash, key).update(text).digest("base64url")}`
}
const goodHeader = { alg: "HS256", typ: "JWT", kid: "1" }
const goodPayload = { ver: 3, iss: issuer, aud: "agentos.realtime", sub: tenantId, iat: 1_000, exp: 1_900.5 }

/** Made by another implementation from `goodHeader` and `goodPayload`. */
const knownToken =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjEifQ.eyJ2ZXIiOjMsImlzcyI6Imh0dHBzOi8vYWdlbnRvcy50ZXN0IiwiYXVkIjoi" +
  "YWdlbnRvcy5yZWFsdGltZSIsInN1YiI6IjAxODkwYTVkLWFjOTYtNzc0Yi1iY2NlLWIzMDIwOTlhODA1NyIsImlhdCI6MTAwMCwiZXhwIjoxOTAw" +
  "LjV9.7nv8jRN2gJyLYCmXN5-TIQ1uQfWotORZJpWDs9UZdo4"

describe("RealtimeTokensJose", () => {
  it.effect("issues the known token, and verifies it", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_000_500)
      const tokens = yield* tokensOf()
      const claims = { tenantId, version: 3, expiresAt: at(1_900_500) }
      assert.strictEqual(Redacted.value(yield* tokens.issue(claims)), knownToken)
      assert.strictEqual(signed(goodHeader, goodPayload), knownToken)
      assert.deepStrictEqual(yield* tokens.verify(knownToken), Option.some(claims))
    })
  )

  it.effect("does not print the token", () =>
    Effect.gen(function* () {
      const token = yield* (yield* tokensOf()).issue({ tenantId, version: 1, expiresAt: at(1_000) })
      assert.notInclude(`${inspect(token)}${JSON.stringify(token)}`, Redacted.value(token).slice(0, 20))
    })
  )

  it.effect("accepts a token until its last millisecond and no longer", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_763_712_345_678)
      const { claims, token } = yield* issued
      const tokens = yield* tokensOf()
      yield* TestClock.adjust(REALTIME_TOKEN_LIFETIME - 1)
      assert.deepStrictEqual(yield* tokens.verify(token), Option.some(claims))
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* tokens.verify(token), Option.none())
    })
  )

  it.effect("accepts tokens of an older key until that key is removed", () =>
    Effect.gen(function* () {
      const { claims, token } = yield* issued
      const rotated = yield* tokensOf(ringOf(2, firstSecret, secondSecret))
      assert.deepStrictEqual(yield* rotated.verify(token), Option.some(claims))
      const newer = Redacted.value(yield* rotated.issue(claims))
      assert.deepStrictEqual(yield* (yield* tokensOf()).verify(newer), Option.none())
      const without = yield* tokensOf({ activeKeyId: 2, keys: [{ id: 2, secret: Redacted.make(secondSecret) }] })
      assert.deepStrictEqual(yield* without.verify(token), Option.none())
      assert.deepStrictEqual(yield* without.verify(newer), Option.some(claims))
    })
  )

  it.effect("rejects another deployment's token", () =>
    Effect.gen(function* () {
      const { token } = yield* issued
      assert.deepStrictEqual(yield* (yield* tokensOf(undefined, "https://other.test")).verify(token), Option.none())
    })
  )

  const refused: ReadonlyArray<readonly [what: string, token: string]> = [
    ["another audience", signed(goodHeader, { ...goodPayload, aud: "agentos.api" })],
    ["no audience", signed(goodHeader, { ...goodPayload, aud: undefined })],
    ["another issuer", signed(goodHeader, { ...goodPayload, iss: "https://other.test" })],
    ["another algorithm of the same family", signed({ ...goodHeader, alg: "HS512" }, goodPayload, "sha512")],
    [
      "no algorithm",
      `${signed({ ...goodHeader, alg: "none" }, goodPayload)
        .split(".")
        .slice(0, 2)
        .join(".")}.`
    ],
    ["no key id", signed({ ...goodHeader, kid: undefined }, goodPayload)],
    ["an unknown key id", signed({ ...goodHeader, kid: "2" }, goodPayload)],
    ["a key id in another spelling", signed({ ...goodHeader, kid: "01" }, goodPayload)],
    ["a key id that is a number", signed({ ...goodHeader, kid: 1 }, goodPayload)],
    ["a key id that can't be converted to text", signed({ ...goodHeader, kid: { toString: 1 } }, goodPayload)],
    ["no expiry", signed(goodHeader, { ...goodPayload, exp: undefined })],
    ["an expiry that is not a number", signed(goodHeader, { ...goodPayload, exp: "1900" })],
    ["no tenant", signed(goodHeader, { ...goodPayload, sub: undefined })],
    ["a tenant that is not an id", signed(goodHeader, { ...goodPayload, sub: "me" })],
    ["no version", signed(goodHeader, { ...goodPayload, ver: undefined })],
    ["a version that is not a whole number", signed(goodHeader, { ...goodPayload, ver: 1.5 })],
    ["a start in the future", signed(goodHeader, { ...goodPayload, nbf: 1_500 })],
    ["a critical extension", signed({ ...goodHeader, crit: ["x"], x: 1 }, goodPayload)],
    ["nothing", ""],
    ["an access token", "at_v1_0000000000000000000000000000000000000000"],
    ["a very long text", `${knownToken}${"A".repeat(100_000)}`],
    ["padding after it", `${knownToken}=`],
    ["white space after it", `${knownToken}\n`]
  ]
  it.effect.each(refused)("rejects a token with %s", ([, token]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_000_000)
      const tokens = yield* tokensOf()
      assert.isTrue(Option.isSome(yield* tokens.verify(knownToken)))
      assert.deepStrictEqual(yield* tokens.verify(token), Option.none())
    })
  )

  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_. =+/é"
  it.effect("rejects every token with one changed character", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_000_000)
      const tokens = yield* tokensOf()
      const last = knownToken.length - 1
      // Every spelling of the last character, whose lowest bits are unused, and one change of each other character.
      const changes = [...alphabet].map((character) => [last, character] as const)
      for (let index = 0; index < last; index++) changes.push([index, knownToken[index] === "A" ? "B" : "A"])
      for (const [index, character] of changes) {
        const changed = knownToken.slice(0, index) + character + knownToken.slice(index + 1)
        if (changed === knownToken) continue
        assert.deepStrictEqual(yield* tokens.verify(changed), Option.none(), `character ${index} as ${character}`)
      }
    })
  )

  it.effect.prop(
    "verifies a token of any claims, and rejects any single change of it",
    {
      sub: Schema.String.check(Schema.isUUID(7)),
      version: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2 ** 31 - 1 })),
      lifetime: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 * REALTIME_TOKEN_LIFETIME })),
      start: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_000_000_000_000 })),
      position: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 })),
      character: Schema.Literals([...alphabet])
    },
    ({ character, lifetime, position, start, sub, version }) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start)
        const tokens = yield* tokensOf()
        const claims = { tenantId: sub, version, expiresAt: at(start + lifetime) }
        const token = Redacted.value(yield* tokens.issue(claims))
        assert.deepStrictEqual(yield* tokens.verify(token), Option.some(claims))
        const index = position % token.length
        const changed = token.slice(0, index) + character + token.slice(index + 1)
        if (changed !== token) assert.deepStrictEqual(yield* tokens.verify(changed), Option.none())
      }),
    { arbitrary: { seed: SEED } }
  )
})
