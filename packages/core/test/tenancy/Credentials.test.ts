import {
  AccessToken,
  Credentials,
  Keyring,
  RealtimeTokens,
  type Tenant,
  TenantStore,
  Timestamp,
  walletAddress
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Option, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import { setBack } from "../support/SetBackClock.ts"
import { testKeyring } from "../support/TestKeyring.ts"

const tenant: Tenant = {
  tenantId: "01900000-0000-7000-8000-00000000abcd",
  wallet: walletAddress(`0x${"ad".repeat(20)}`),
  tokenVersion: 1,
  createdAt: Timestamp.Timestamp.make(0)
}
const keyring = testKeyring([1], 1)
const token = AccessToken.derive(keyring, { keyId: 1, tenantId: tenant.tenantId, version: 1 })!

/** Credentials over a store whose answers, or failures, to `find` these are, one after the other. */
const over = (...answers: ReadonlyArray<Effect.Effect<Option.Option<Tenant>>>) => {
  const left = [...answers]
  const store = Layer.mock(TenantStore)({
    find: () => left.shift() ?? Effect.die(new Error("the store was asked too often"))
  })
  const realtimeTokens = Layer.mock(RealtimeTokens)({ verify: () => Effect.succeedNone })
  const ports = Layer.mergeAll(store, realtimeTokens, Layer.succeed(Keyring, keyring))
  return Effect.provide(Credentials, Layer.provide(Credentials.layer, ports))
}

describe("Credentials", () => {
  it.effect("ask for a tenant once in a while, and not for each request", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* over(Effect.succeedSome(tenant))
      assert.deepStrictEqual(yield* authenticate(token), tenant)
      assert.deepStrictEqual(yield* authenticate(token), tenant)
    })
  )

  it.effect("ask again after 4 s also if the time of day is set back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Timestamp.DAY)
      const { authenticate } = yield* over(Effect.succeedSome(tenant), Effect.succeedNone)
      assert.deepStrictEqual(yield* authenticate(token), tenant)
      const later = yield* setBack("4 seconds")
      const refused = Effect.provideService(authenticate(token), Clock.Clock, later)
      assert.strictEqual((yield* Effect.flip(refused))._tag, "CredentialRefused")
    })
  )

  it.effect("remember no failure of the store: who comes after it is let in", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* over(Effect.die(new Error("the database is away")), Effect.succeedSome(tenant))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(authenticate(token))))
      assert.deepStrictEqual(yield* authenticate(token), tenant)
    })
  )

  it.effect("refuse an access token after it was revoked", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* over(Effect.succeedSome({ ...tenant, tokenVersion: 2 }))
      assert.strictEqual((yield* Effect.flip(authenticate(token)))._tag, "CredentialRefused")
    })
  )

  it.effect("refuse realtime tokens that are not valid without asking the store", () =>
    Effect.gen(function* () {
      const { authenticateRealtime } = yield* over()
      const holders = yield* authenticateRealtime([Redacted.make("a guess"), Redacted.make("another")])
      assert.deepStrictEqual(
        holders.map((holder) => Result.isFailure(holder) && holder.failure._tag),
        ["WrongCredential", "WrongCredential"]
      )
    })
  )
})
