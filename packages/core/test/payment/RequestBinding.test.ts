import { Keyring, type PaymentProof, type PaymentTerms, RequestBinding, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as TestKeyring from "../support/TestKeyring.ts"

const request: RequestBinding.RequestBinding = {
  tenantId: null,
  method: "POST",
  path: "/api/v1/email/mailboxes",
  query: "",
  bodyHash: "aa"
}

const terms: PaymentTerms = {
  scheme: "exact",
  network: "eip155:196",
  asset: "0x779ded0c9e1022225f8e0630b35a9b54be713736",
  amount: 250_000n,
  payTo: "0x00000000000000000000000000000000000000AA",
  maxTimeoutSeconds: 120,
  extra: { name: "USD₮0", version: "1" }
}

/** Returns the terms as a client echoes them. */
const echo = (bound: PaymentTerms): PaymentProof["accepted"] => ({ ...bound, amount: bound.amount.toString() })

/** The terms as a challenge for the request carries them. */
const challenged = Effect.gen(function* () {
  const [binding] = yield* RequestBinding.bind(yield* Keyring, request, [terms], yield* Timestamp.now)
  return RequestBinding.boundTerms(terms, binding!)
})

const bound = Effect.map(challenged, echo)

describe("RequestBinding", () => {
  it.effect("rebuilds bound terms", () =>
    Effect.gen(function* () {
      const challenge = yield* challenged
      assert.deepStrictEqual(yield* RequestBinding.rebuild(request, [terms], echo(challenge)), challenge)
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("is refused for every other request", () =>
    Effect.gen(function* () {
      const accepted = yield* bound
      const others: ReadonlyArray<Partial<RequestBinding.RequestBinding>> = [
        { tenantId: "tenant" },
        { method: "PUT" },
        { path: "/api/v1/email/mailboxes/update" },
        { query: "a=1" },
        { bodyHash: "ab" }
      ]
      for (const other of others) {
        const refusal = yield* Effect.flip(RequestBinding.rebuild({ ...request, ...other }, [terms], accepted))
        assert.strictEqual(refusal, "different request", JSON.stringify(other))
      }
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("uses nothing from the client except our own binding fields", () =>
    Effect.gen(function* () {
      const accepted = yield* bound
      const changes: ReadonlyArray<Partial<PaymentProof["accepted"]>> = [
        { amount: "1" },
        { network: "eip155:1" },
        { asset: terms.asset.toUpperCase() },
        { payTo: terms.payTo.toLowerCase() },
        { maxTimeoutSeconds: 121 },
        { scheme: "upto" },
        { extra: { ...accepted.extra, name: "Other" } },
        { extra: { ...accepted.extra, more: "1" } },
        { extra: {} }
      ]
      for (const change of changes) {
        const refusal = yield* Effect.flip(RequestBinding.rebuild(request, [terms], { ...accepted, ...change }))
        assert.strictEqual(refusal, "different terms", JSON.stringify(change))
      }
      for (const field of ["challengeNonce", "binding"]) {
        const extra = { ...accepted.extra, [field]: "00" }
        assert.strictEqual(
          yield* Effect.flip(RequestBinding.rebuild(request, [terms], { ...accepted, extra })),
          "different request"
        )
      }
      const later = { ...accepted.extra, expiresAt: Number(accepted.extra["expiresAt"]) + 1 }
      assert.strictEqual(
        yield* Effect.flip(RequestBinding.rebuild(request, [terms], { ...accepted, extra: later })),
        "different request"
      )
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("honors a challenge from the version before nonce tags, and accepts only the offered tag", () =>
    Effect.gen(function* () {
      const accepted = yield* bound
      const tagged = { ...terms, extra: { ...terms.extra, nonceTag: "0x6167656e746f7331" } }
      const rebuilt = yield* RequestBinding.rebuild(request, [tagged], accepted)
      assert.deepStrictEqual(rebuilt.extra, accepted.extra)
      const echoed = { ...accepted, extra: { ...accepted.extra, nonceTag: "0x6167656e746f7331" } }
      assert.deepStrictEqual((yield* RequestBinding.rebuild(request, [tagged], echoed)).extra, echoed.extra)
      const other = { ...accepted, extra: { ...accepted.extra, nonceTag: "0x00" } }
      assert.strictEqual(yield* Effect.flip(RequestBinding.rebuild(request, [tagged], other)), "different terms")
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("expires after 15 minutes", () =>
    Effect.gen(function* () {
      const accepted = yield* bound
      yield* TestClock.adjust(RequestBinding.CHALLENGE_LIFETIME - 1)
      const rebuilt = yield* RequestBinding.rebuildFresh(request, [terms], accepted)
      yield* TestClock.adjust(1)
      assert.strictEqual(
        yield* Effect.flip(RequestBinding.rebuildFresh(request, [terms], accepted)),
        "challenge expired"
      )
      assert.deepStrictEqual(yield* RequestBinding.rebuild(request, [terms], accepted), rebuilt)
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("never issues the same challenge twice", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* bound, yield* bound]
      assert.notStrictEqual(one.extra["challengeNonce"], other.extra["challengeNonce"])
      assert.notStrictEqual(one.extra["binding"], other.extra["binding"])
    }).pipe(Effect.provide(TestKeyring.layer))
  )
})
