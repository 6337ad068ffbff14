import { Credentials, OperationStep, OperationSteps, TenantStore, walletAddress } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { ADA, adasMailbox, challengeOf, create, pay } from "../support/Purchase.ts"
import * as TestHost from "../support/TestHost.ts"

/** The steps of a purchase that succeeds, stages nothing and calls no provider. */
const STEPS = OperationStep.literals.filter((step) => !/refund|staged|perform|^settled$/.test(step))

describe("a purchase during which the wallet's tokens are revoked", () => {
  it.effect.each(STEPS)("answers with a token that is valid, or was before the answer existed, at %s", (at) => {
    const host = TestHost.make()
    let revoke: Effect.Effect<unknown> = Effect.void
    const steps = Layer.succeed(OperationSteps, (step) =>
      step === at ? Effect.asVoid(Effect.suspend(() => revoke)) : Effect.void
    )
    return Effect.gen(function* () {
      const tenants = yield* TenantStore
      const credentials = yield* Credentials
      const signature = pay(yield* challengeOf(), ADA, "01")
      revoke = Effect.gen(function* () {
        const { tenantId } = Option.getOrThrow(yield* tenants.findByWallet(walletAddress(ADA)))
        yield* credentials.revoke(tenantId)
      })
      const answer = yield* create({ localPart: "ada" }, { signature })
      const token = Redacted.make(/at_v1_\w+/.exec(Redacted.value(answer.body))?.[0] ?? "")
      const tenant = Option.getOrThrow(yield* tenants.findByWallet(walletAddress(ADA)))
      assert.strictEqual(tenant.tokenVersion, 2)
      // Once the answer is stored, it is repeated byte for byte, and a revocation ends the token in it.
      const isStored = at === "fulfilled" || at === "before_answer"
      assert.strictEqual(yield* Effect.isSuccess(credentials.authenticate(token)), !isStored)
      assert.strictEqual(Redacted.value(credentials.accessTokenOf(tenant)) === Redacted.value(token), !isStored)
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    }).pipe(Effect.provide(host.layer.pipe(Layer.provide(steps))))
  })

  it.effect.each(STEPS)("with the replaced token does not answer with the new one, at %s", (at) => {
    const host = TestHost.make()
    let replace: Effect.Effect<unknown> = Effect.void
    const steps = Layer.succeed(OperationSteps, (step) =>
      step === at ? Effect.asVoid(Effect.suspend(() => replace)) : Effect.void
    )
    return Effect.gen(function* () {
      const credentials = yield* Credentials
      const { tenant } = yield* adasMailbox
      const signature = pay(yield* challengeOf({ tenant, key: "key-2" }, "ada-2"), ADA, "02")
      replace = credentials.revoke(tenant.tenantId)
      const answer = yield* create({ localPart: "ada-2" }, { tenant, signature, key: "key-2" })
      const renewed = Option.getOrThrow(yield* (yield* TenantStore).find(tenant.tenantId))
      assert.strictEqual(renewed.tokenVersion, tenant.tokenVersion + 1)
      assert.notInclude(Redacted.value(answer.body), Redacted.value(credentials.accessTokenOf(renewed)))
    }).pipe(Effect.provide(host.layer.pipe(Layer.provide(steps))))
  })
})
