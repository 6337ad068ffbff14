import { Bytes, Keyring, type PaymentProof, type PaymentTerms, RequestBinding, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Hex } from "effect/encoding"
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

/** The same JSON with its members in the opposite order, as clients in other languages may write it. */
const reversed = (accepted: PaymentProof["accepted"]): PaymentProof["accepted"] => ({
  ...(Object.fromEntries(Object.entries(accepted).toReversed()) as unknown as PaymentProof["accepted"]),
  extra: Object.fromEntries(Object.entries(accepted.extra).toReversed())
})

/** The binding of a challenge by the rule of the version before the MAC over the terms. */
const formerBinding = (accepted: PaymentProof["accepted"]) => {
  const { amount, asset, maxTimeoutSeconds, network, payTo } = accepted
  const { challengeNonce, expiresAt, issuedAt } = accepted.extra
  const { bodyHash, method, path, query } = request
  const bound = ["bootstrap", method, path, query, bodyHash, network, asset, amount, payTo, maxTimeoutSeconds]
  const text = JSON.stringify([...bound, challengeNonce, issuedAt, expiresAt])
  return Effect.map(Keyring, (keyring) => Hex.encode(keyring.mac(1, "challenge", Bytes.fromText(text))!))
}

/** A challenge as the version before the MAC over the terms issued it. */
const formerChallenge = Effect.gen(function* () {
  const accepted = yield* bound
  const challengeNonce = "0f".repeat(16)
  const former = { ...accepted, extra: { ...accepted.extra, challengeNonce } }
  return { ...former, extra: { ...former.extra, binding: yield* formerBinding(former) } }
})

const OTHER_OFFERS: ReadonlyArray<readonly [string, Partial<PaymentTerms>]> = [
  ["another validity", { maxTimeoutSeconds: 60 }],
  ["another price", { amount: 300_000n }],
  ["another recipient", { payTo: "0x00000000000000000000000000000000000000BB" }],
  ["another token", { asset: "0x00000000000000000000000000000000000000a1" }],
  ["more fields", { extra: { ...terms.extra, more: "1" } }],
  ["fewer fields", { extra: {} }]
]

describe("RequestBinding", () => {
  it.effect("returns the terms as they were signed, in whatever order a client writes them", () =>
    Effect.gen(function* () {
      const challenge = yield* challenged
      for (const accepted of [echo(challenge), reversed(echo(challenge))]) {
        assert.deepStrictEqual(yield* RequestBinding.verify(request, [terms], accepted), challenge)
        assert.deepStrictEqual(RequestBinding.signedTerms(yield* Keyring, accepted), challenge)
      }
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect.each(OTHER_OFFERS)("honors them while the server offers %s", ([, change]) =>
    Effect.gen(function* () {
      const challenge = yield* challenged
      for (const offered of [[{ ...terms, ...change }], []]) {
        assert.deepStrictEqual(yield* RequestBinding.verify(request, offered, echo(challenge)), challenge)
      }
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("honors fields of a newer version, and returns those that are texts or numbers", () =>
    Effect.gen(function* () {
      const newer = { ...terms, extra: { ...terms.extra, later: "1", nested: { b: [1, null], a: true } } }
      // A newer version may declare a wider type.
      const [binding] = yield* RequestBinding.bind(yield* Keyring, request, [newer as never], yield* Timestamp.now)
      const accepted = { ...echo(terms), extra: { ...newer.extra, ...binding! } }
      const { extra } = yield* RequestBinding.verify(request, [terms], accepted)
      assert.deepStrictEqual(extra, { ...terms.extra, later: "1", ...binding! })
      const changed = { ...accepted, extra: { ...accepted.extra, nested: { b: [1, null], a: false } } }
      assert.strictEqual(yield* Effect.flip(RequestBinding.verify(request, [terms], changed)), "different terms")
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
        const refusal = yield* Effect.flip(RequestBinding.verify({ ...request, ...other }, [terms], accepted))
        assert.strictEqual(refusal, "different request", JSON.stringify(other))
      }
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("is refused if a client changes any of the terms, also to those that are offered now", () =>
    Effect.gen(function* () {
      const accepted = yield* bound
      const changes: ReadonlyArray<Partial<PaymentProof["accepted"]>> = [
        { amount: "1" },
        { amount: "0250000" },
        { network: "eip155:1" },
        { asset: terms.asset.toUpperCase() },
        { payTo: terms.payTo.toLowerCase() },
        { maxTimeoutSeconds: 121 },
        { scheme: "upto" },
        { extra: { ...accepted.extra, name: "Other" } },
        { extra: { ...accepted.extra, more: "1" } },
        { extra: { ...accepted.extra, expiresAt: Number(accepted.extra["expiresAt"]) + 1 } },
        { extra: { ...accepted.extra, challengeNonce: "00" } },
        { extra: { ...accepted.extra, challengeNonce: "00".repeat(32) } },
        { extra: {} }
      ]
      const keyring = yield* Keyring
      for (const change of changes) {
        const changed = { ...accepted, ...change }
        const now = { ...terms, ...change, extra: terms.extra, amount: 1n } as PaymentTerms
        const refusal = yield* Effect.flip(RequestBinding.verify(request, [now], changed))
        assert.strictEqual(refusal, "different terms", JSON.stringify(change))
        assert.isUndefined(RequestBinding.signedTerms(keyring, changed), JSON.stringify(change))
      }
      // A nonce of the version before has no MAC over the terms, but is under that of the request.
      const former = { challengeNonce: "0f".repeat(16) }
      for (const extra of [{ binding: "00" }, { binding: "00".repeat(32) }, former]) {
        const changed = { ...accepted, extra: { ...accepted.extra, ...extra } }
        const refusal = yield* Effect.flip(RequestBinding.verify(request, [terms], changed))
        assert.strictEqual(refusal, "different request", JSON.stringify(extra))
      }
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("is accepted by the version before, which knows its binding alone", () =>
    Effect.gen(function* () {
      const accepted = yield* bound
      assert.strictEqual(accepted.extra["binding"], yield* formerBinding(accepted))
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("honors a challenge of the version before, with fields of extra that are offered", () =>
    Effect.gen(function* () {
      const former = yield* formerChallenge
      const tagged = { ...terms, maxTimeoutSeconds: 60, extra: { ...terms.extra, nonceTag: "0x6167656e746f7331" } }
      const verified = yield* RequestBinding.verify(request, [tagged], former)
      assert.deepStrictEqual(verified, { ...terms, extra: verified.extra })
      assert.deepStrictEqual(verified.extra, former.extra)
      const echoed = { ...former, extra: { ...former.extra, nonceTag: "0x6167656e746f7331" } }
      assert.deepStrictEqual((yield* RequestBinding.verify(request, [tagged], echoed)).extra, echoed.extra)
      for (const extra of [{ nonceTag: "0x00" }, { name: "Other" }, { more: "1" }]) {
        const changed = { ...former, extra: { ...former.extra, ...extra } }
        assert.strictEqual(yield* Effect.flip(RequestBinding.verify(request, [tagged], changed)), "different terms")
      }
      for (const change of [{ amount: "1" }, { payTo: terms.asset }, { maxTimeoutSeconds: 60 }]) {
        const changed = { ...former, ...change }
        assert.strictEqual(yield* Effect.flip(RequestBinding.verify(request, [tagged], changed)), "different request")
      }
    }).pipe(Effect.provide(TestKeyring.layer))
  )

  it.effect("expires after 15 minutes", () =>
    Effect.gen(function* () {
      const accepted = yield* bound
      yield* TestClock.adjust(RequestBinding.CHALLENGE_LIFETIME - 1)
      const rebuilt = yield* RequestBinding.verifyFresh(request, [terms], accepted)
      yield* TestClock.adjust(1)
      assert.strictEqual(
        yield* Effect.flip(RequestBinding.verifyFresh(request, [terms], accepted)),
        "challenge expired"
      )
      assert.deepStrictEqual(yield* RequestBinding.verify(request, [terms], accepted), rebuilt)
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
