import { AccessToken, Keyring } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { format, inspect } from "node:util"
import { testKeyring } from "../support/TestKeyring.ts"

const claims = { keyId: 1, tenantId: "01900000-0000-7000-8000-00000000abcd", version: 7 }
const ring = testKeyring([1, 2], 2)
const token = Redacted.value(AccessToken.derive(ring, claims)!)
const open = (text: string, keyring = ring) => Effect.provideService(AccessToken.open(text), Keyring, keyring)

describe("AccessToken", () => {
  it.effect("says what it was made for, and is the same each time", () =>
    Effect.gen(function* () {
      assert.match(token, /^at_v1_[0-9A-Za-z]+$/)
      assert.strictEqual(Redacted.value(AccessToken.derive(ring, claims)!), token)
      assert.deepStrictEqual(yield* open(token), Option.some(claims))
    })
  )

  it.effect("has no expiry: it opens years later", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("3650 days")
      assert.deepStrictEqual(yield* open(token), Option.some(claims))
    })
  )

  it.effect("opens under an old key until that key is gone", () =>
    Effect.gen(function* () {
      assert.isTrue(Option.isSome(yield* open(token, testKeyring([1, 2, 3], 3))))
      assert.isTrue(Option.isNone(yield* open(token, testKeyring([2, 3], 3))))
      assert.isUndefined(AccessToken.derive(testKeyring([2], 2), claims))
    })
  )

  it.effect("does not open when any character is another", () =>
    Effect.gen(function* () {
      for (let i = 0; i < token.length; i++) {
        const changed = token.slice(0, i) + (token[i] === "a" ? "b" : "a") + token.slice(i + 1)
        assert.isTrue(Option.isNone(yield* open(changed)), `character ${i}`)
      }
      for (const text of ["", "at_v1_", token.slice(0, -1), `${token}0`, token.slice(6)]) {
        assert.isTrue(Option.isNone(yield* open(text)), text)
      }
    })
  )

  it("does not print", () => {
    const derived = AccessToken.derive(ring, claims)
    for (const text of [format("%s", derived), JSON.stringify({ derived }), inspect(derived)]) {
      assert.notInclude(text, token.slice(6, 20))
    }
  })
})
