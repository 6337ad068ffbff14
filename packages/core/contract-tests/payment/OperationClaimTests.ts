import {
  type Operation,
  type OperationChange,
  OperationStore,
  operationStatusOf,
  type PaymentProof,
  proofKey,
  Transactor
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, Option } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

const keysOf = ({ endpoint, idempotencyKey, proof }: Operation) => ({
  proof: proofKey(proof),
  endpoint,
  idempotencyKey
})

/** Tests of `claim`, `find`, `findStatus` and `findByKeys`. */
export const operationClaimTests: ContractTests<OperationStore> = (it) => {
  describe("claim", () => {
    it.effect("stores the operation unchanged, leased to its creator, due when the lease ends, with fence 1", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.operation(yield* Fresh.tenant, { fence: 7 })
        const before = yield* clock.now
        assert.isTrue(yield* store.claim(operation, Sample.LEASE))
        const after = yield* clock.now
        const stored = yield* Sample.found(operation.operationId)
        assert.deepStrictEqual(Sample.lasting(stored), Sample.lasting(operation))
        assert.strictEqual(stored.fence, 1)
        Sample.assertLeased(stored, before, after)
        assert.deepStrictEqual(yield* store.takeOver(operation.operationId, Sample.LEASE), Option.none())
      })
    )

    it.effect("keeps every text, number and structure exactly", () =>
      Effect.gen(function* () {
        const tenant = yield* Fresh.tenant
        const store = yield* OperationStore
        const texts = AWKWARD_TEXTS.filter((text) => text.length < 1_000)
        for (const text of AWKWARD_TEXTS) {
          const key = text.length < 200 ? text + (yield* Fresh.id) : yield* Fresh.id
          const extra = { name: text, texts, deep: { nothing: null, list: [1, "1", true, 0.1] }, expiresAt: 1.5 }
          const sample = yield* Sample.proof(tenant)
          const proof = {
            ...sample,
            accepted: { ...sample.accepted, scheme: text, amount: text, extra },
            value: Sample.UINT256_MAX,
            validBefore: Number.MAX_SAFE_INTEGER,
            payload: text
          }
          const base = yield* Sample.operation(tenant, { proof })
          const operation: Operation = {
            ...base,
            idempotencyKey: key,
            endpoint: `POST /${key}`,
            fingerprint: text,
            input: `{ "b" : 1,  "a": ${JSON.stringify(text)} }`,
            plan: text,
            terms: {
              ...base.terms,
              amount: Sample.UINT256_MAX,
              extra: { name: text, keyId: 1, small: 0.1, large: 2 ** 53 - 1 }
            }
          }
          assert.isTrue(yield* store.claim(operation, Sample.LEASE))
          const claimed = yield* Sample.found(operation.operationId)
          assert.deepStrictEqual(Sample.lasting(claimed), Sample.lasting(operation))

          const change: OperationChange = {
            nonceReadAtBlock: 2n ** 63n - 1n,
            transaction: text,
            refundNonce: text,
            refundTransaction: text,
            receipt: text,
            failure: { kind: "late", message: text },
            answer: {
              created: true,
              body: text,
              slots: [{ kind: "access-token", keyId: 255, version: 3, subject: text, offset: 12 }]
            }
          }
          yield* store.advance(claimed, { to: "settling", change, next: { kind: "scheduled", millis: 0 } })
          assert.deepInclude(yield* Sample.found(claimed.operationId), change)
        }
      })
    )

    it.effect("stores nothing if the proof's key is taken, in any upper or lower case", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const shout = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
        const spell: ReadonlyArray<(proof: PaymentProof) => PaymentProof> = [
          (proof) => proof,
          (proof) => ({ ...proof, asset: shout(proof.asset) }),
          (proof) => ({ ...proof, nonce: shout(proof.nonce) }),
          (proof) => ({ ...proof, payer: shout(proof.payer) }),
          (proof) => ({ ...proof, digest: "other", value: 1n, payload: "other bytes of the same authorization" })
        ]
        for (const spellFirst of spell) {
          const sample = yield* Sample.proof(yield* Fresh.tenant)
          const first = yield* Sample.claimed({ proof: spellFirst(sample) })
          for (const spellSecond of spell) {
            const parts = { proof: spellSecond(sample), endpoint: yield* Fresh.word }
            const operation = yield* Sample.operation(yield* Fresh.tenant, parts)
            assert.isFalse(yield* store.claim(operation, Sample.LEASE))
            assert.deepStrictEqual(yield* store.find(operation.operationId), Option.none())
            assert.deepStrictEqual(yield* store.findByKeys(keysOf(operation)), [first])
          }
        }
      })
    )

    it.effect("stores nothing if the payer in another case has used the Idempotency-Key", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        const sample = yield* Sample.proof(tenant)
        const first = yield* Sample.claimed({ proof: { ...sample, payer: `0x${sample.payer.slice(2).toUpperCase()}` } })
        const { endpoint, idempotencyKey } = first
        const operation = yield* Sample.operation(tenant, { endpoint, idempotencyKey })
        assert.isFalse(yield* store.claim(operation, Sample.LEASE))
        assert.deepStrictEqual(yield* store.findByKeys(keysOf(operation)), [first])
      })
    )

    it.effect("stores nothing if the payer has used the Idempotency-Key on the endpoint", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        const first = yield* Sample.operation(tenant)
        assert.isTrue(yield* store.claim(first, Sample.LEASE))
        const { endpoint, idempotencyKey } = first
        const operation = yield* Sample.operation(tenant, { endpoint, idempotencyKey })
        assert.isFalse(yield* store.claim(operation, Sample.LEASE))
        assert.deepStrictEqual(yield* store.find(operation.operationId), Option.none())
        // Its proof is still valid for an operation with another key.
        const other = yield* Sample.operation(tenant, { proof: operation.proof })
        assert.isTrue(yield* store.claim(other, Sample.LEASE))
      })
    )

    it.effect("dies if the tenant does not exist", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.operation(yield* Fresh.candidate)
        yield* refused(store.claim(operation, Sample.LEASE))
        assert.deepStrictEqual(yield* store.find(operation.operationId), Option.none())
      })
    )

    it.effect("accepts an operation with a difference in any part of either key", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        const first = yield* Sample.operation(tenant)
        assert.isTrue(yield* store.claim(first, Sample.LEASE))
        const { endpoint, idempotencyKey, proof } = first
        const { asset, network, nonce } = proof
        const stranger = yield* Fresh.tenant
        const other = yield* Sample.proof(tenant)
        const fresh = yield* Effect.all([
          Sample.operation(tenant, { proof: { ...proof, network: "eip155:42220" } }),
          Sample.operation(tenant, { proof: { ...proof, asset: other.asset } }),
          Sample.operation(tenant, { proof: { ...proof, nonce: other.nonce } }),
          Sample.operation(stranger, { proof: yield* Sample.proof(stranger, { network, asset, nonce }) }),
          Sample.operation(stranger, { endpoint, idempotencyKey }),
          Sample.operation(tenant, { endpoint: `${endpoint}/`, idempotencyKey }),
          Sample.operation(tenant, { endpoint, idempotencyKey: idempotencyKey.toUpperCase() }),
          Sample.operation(tenant, { endpoint, idempotencyKey: `${idempotencyKey} ` }),
          Sample.operation(tenant, { endpoint, idempotencyKey: `${idempotencyKey}%` }),
          Sample.operation(tenant, { endpoint: `${endpoint} x`, idempotencyKey: "y" }),
          Sample.operation(tenant, { endpoint, idempotencyKey: "x y" })
        ])
        for (const operation of fresh) {
          assert.isTrue(yield* store.claim(operation, Sample.LEASE))
          assert.include(
            (yield* store.findByKeys(keysOf(operation))).map((each) => each.operationId),
            operation.operationId
          )
        }
      })
    )

    it.effect("accepts an Idempotency-Key of the maximum length", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        const characters = Array.makeBy(255, (index) => String.fromCodePoint(0x1f400 + ((index * 7919) % 1_000)))
        const operation = yield* Sample.operation(tenant, { idempotencyKey: characters.join("") })
        assert.isTrue(yield* store.claim(operation, Sample.LEASE))
        assert.strictEqual((yield* Sample.found(operation.operationId)).idempotencyKey, operation.idempotencyKey)
        const again = yield* Sample.operation(tenant, { idempotencyKey: operation.idempotencyKey })
        assert.isFalse(yield* store.claim(again, Sample.LEASE))
      })
    )

    it.effect("never frees a key, whatever the state of its operation", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const tenant = yield* Fresh.tenant
        const operation = yield* Sample.operation(tenant)
        assert.isTrue(yield* store.claim(operation, Sample.LEASE))
        yield* Sample.moved(yield* Sample.found(operation.operationId), "unpaid")
        yield* clock.advance(90 * 24 * 3_600_000)
        const { endpoint, idempotencyKey, proof } = operation
        assert.isFalse(yield* store.claim(yield* Sample.operation(tenant, { proof }), Sample.LEASE))
        const sameKey = yield* Sample.operation(tenant, { endpoint, idempotencyKey })
        assert.isFalse(yield* store.claim(sameKey, Sample.LEASE))
      })
    )
  })

  describe("concurrent claims", () => {
    it.effect("give the proof's key to one", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const transactor = yield* Transactor
        const tenant = yield* Fresh.tenant
        const proof = yield* Sample.proof(tenant)
        const rivals = yield* Effect.forEach(Array.range(1, 12), () => Sample.operation(tenant, { proof }))
        const answers = yield* Effect.forEach(
          rivals,
          (rival) => transactor.transact(store.claim(rival, Sample.LEASE)),
          {
            concurrency: "unbounded"
          }
        )
        const won = rivals.filter((_, index) => answers[index])
        assert.strictEqual(won.length, 1)
        const stored = yield* store.findByKeys(keysOf(rivals[0]!))
        assert.deepStrictEqual(
          stored.map((each) => each.operationId),
          won.map((each) => each.operationId)
        )
      })
    )

    it.effect("give the Idempotency-Key to one", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const transactor = yield* Transactor
        const tenant = yield* Fresh.tenant
        const idempotencyKey = yield* Fresh.word
        const rivals = yield* Effect.forEach(Array.range(1, 12), () => Sample.operation(tenant, { idempotencyKey }))
        const answers = yield* Effect.forEach(
          rivals,
          (rival) => transactor.transact(store.claim(rival, Sample.LEASE)),
          {
            concurrency: "unbounded"
          }
        )
        assert.strictEqual(answers.filter(Boolean).length, 1)
      })
    )

    it.effect("give a key to the next one if its first claim was rolled back", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const transactor = yield* Transactor
        const tenant = yield* Fresh.tenant
        const proof = yield* Sample.proof(tenant)
        const [first, second] = yield* Effect.all([
          Sample.operation(tenant, { proof }),
          Sample.operation(tenant, { proof })
        ])
        const claimed = yield* Deferred.make<void>()
        const failing = yield* Effect.forkChild(
          transactor
            .transact(
              Effect.gen(function* () {
                assert.isTrue(yield* store.claim(first, Sample.LEASE))
                yield* Deferred.succeed(claimed, undefined)
                for (const _ of Array.range(1, 20)) yield* Effect.yieldNow
                return yield* Effect.fail("no")
              })
            )
            .pipe(Effect.exit)
        )
        yield* Deferred.await(claimed)
        assert.isTrue(yield* store.claim(second, Sample.LEASE))
        yield* Fiber.join(failing)
        assert.deepStrictEqual(yield* store.find(first.operationId), Option.none())
      })
    )
  })

  describe("find", () => {
    it.effect("returns nothing for an unknown id", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        assert.deepStrictEqual(yield* store.find(yield* Fresh.id), Option.none())
      })
    )
  })

  describe("findStatus", () => {
    it.effect("returns the status of an open and of a fulfilled operation, or none", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const { operationId } = yield* Sample.claimed()
        const open = yield* Sample.found(operationId)
        assert.deepStrictEqual(yield* store.findStatus(operationId), Option.some(operationStatusOf(open)))
        assert.strictEqual(operationStatusOf(open).validBefore, open.proof.validBefore)
        const settling = Option.getOrThrow(
          yield* store.advance(open, { to: "settling", change: {}, next: { kind: "leased", millis: Sample.LEASE } })
        )
        yield* store.advance(settling, {
          to: "fulfilled",
          change: { transaction: "0x01", receipt: "a receipt", answer: { created: true, body: "{}", slots: [] } },
          next: { kind: "none" }
        })
        const fulfilled = operationStatusOf(yield* Sample.found(operationId))
        assert.deepStrictEqual(yield* store.findStatus(operationId), Option.some(fulfilled))
        assert.deepInclude(fulfilled, { receipt: "a receipt", hasAnswer: true, validBefore: null })
        assert.deepStrictEqual(yield* store.findStatus(yield* Fresh.id), Option.none())
      })
    )
  })

  describe("findStatus of an open operation", () => {
    for (const validBefore of [1_900_000_000.5, Number.MAX_SAFE_INTEGER, 1e21])
      it.effect(`tells when its authorization expires, as the rail of the host wrote it: ${validBefore}`, () =>
        Effect.gen(function* () {
          const proof = yield* Sample.proof(yield* Fresh.tenant, { validBefore })
          const { operationId } = yield* Sample.claimed({ proof })
          const status = Option.getOrThrow(yield* (yield* OperationStore).findStatus(operationId))
          assert.strictEqual(status.validBefore, validBefore)
        })
      )
  })

  describe("findByKeys", () => {
    it.effect("returns the one operation with both keys, or either", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        const operation = yield* Sample.operation(tenant)
        assert.isTrue(yield* store.claim(operation, Sample.LEASE))
        const stored = yield* Sample.found(operation.operationId)
        const keys = keysOf(operation)
        const otherProof = { ...keys.proof, nonce: (yield* Sample.proof(tenant)).nonce }
        assert.deepStrictEqual(yield* store.findByKeys(keys), [stored])
        assert.deepStrictEqual(yield* store.findByKeys({ ...keys, idempotencyKey: "other" }), [stored])
        assert.deepStrictEqual(yield* store.findByKeys({ ...keys, endpoint: "GET /other" }), [stored])
        assert.deepStrictEqual(yield* store.findByKeys({ ...keys, proof: otherProof }), [stored])
        assert.deepStrictEqual(yield* store.findByKeys({ ...keys, proof: otherProof, endpoint: "GET /other" }), [])
        assert.deepStrictEqual(yield* store.findByKeys({ ...keys, proof: otherProof, idempotencyKey: "other" }), [])
      })
    )

    it.effect("returns two operations if one has the proof's key and another the payer's Idempotency-Key", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        const [byProof, byKey] = yield* Effect.all([Sample.operation(tenant), Sample.operation(tenant)])
        assert.isTrue(yield* store.claim(byProof, Sample.LEASE))
        assert.isTrue(yield* store.claim(byKey, Sample.LEASE))
        const found = yield* store.findByKeys({ ...keysOf(byKey), proof: proofKey(byProof.proof) })
        assert.sameMembers(
          found.map((each) => each.operationId),
          [byProof.operationId, byKey.operationId]
        )
      })
    )

    it.effect("returns no other payer's operation with the same Idempotency-Key", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        const stranger = yield* Fresh.tenant
        const keys = { ...keysOf(operation), proof: proofKey(yield* Sample.proof(stranger)) }
        assert.deepStrictEqual(yield* store.findByKeys(keys), [])
      })
    )
  })
}
