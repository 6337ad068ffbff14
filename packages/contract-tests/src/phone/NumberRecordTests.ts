import { type PhoneNumber, PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Sample from "./PhoneNumberSample.ts"

/** Tests of `create`, `find`, `list`, `findByNumber`, `findByNumbers` and `update`. */
export const numberRecordTests: ContractTests<PhoneNumberStore> = (it) => {
  describe("find", () => {
    it.effect("distinguishes the tenant's own number, another tenant's and a missing one", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { number, tenantId } = yield* Sample.owner
        const other = yield* Fresh.tenant
        assert.deepStrictEqual(yield* store.find(tenantId, number.phoneNumberId), { _tag: "Owned", value: number })
        assert.deepStrictEqual(yield* store.find(other.tenantId, number.phoneNumberId), { _tag: "Foreign" })
        assert.deepStrictEqual(yield* store.find(yield* Fresh.id, number.phoneNumberId), { _tag: "Foreign" })
        assert.deepStrictEqual(yield* store.find(tenantId, yield* Fresh.id), { _tag: "Missing" })
      })
    )

    it.effect("returns every text exactly, and null if none was set", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const tenant = yield* Fresh.tenant
        for (const text of AWKWARD_TEXTS) {
          const parts = { agentName: text, description: text, beginMessage: text, voice: text, language: text }
          const number = yield* Sample.stored(tenant, parts)
          assert.deepStrictEqual(yield* store.find(tenant.tenantId, number.phoneNumberId), {
            _tag: "Owned",
            value: number
          })
        }
      })
    )
  })

  describe("list", () => {
    it.effect("returns all numbers of the tenant, including released ones, oldest first, and no others", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const tenant = yield* Fresh.tenant
        const other = yield* Sample.owner
        assert.deepStrictEqual(yield* store.list(tenant.tenantId), [])
        const first = yield* Sample.phoneNumber(tenant)
        const older = yield* Sample.phoneNumber(tenant, { createdAt: Timestamp.add(first.createdAt, -60_000) })
        const newer = yield* Sample.phoneNumber(tenant, { createdAt: Timestamp.add(first.createdAt, 60_000) })
        for (const number of [newer, first, older]) yield* Sample.create(number)
        yield* store.update(Sample.released(first))
        assert.deepStrictEqual(yield* store.list(tenant.tenantId), [older, Sample.released(first), newer])
        assert.deepStrictEqual(yield* store.list(other.tenantId), [other.number])
        assert.deepStrictEqual(yield* store.list(yield* Fresh.id), [])
      })
    )
  })

  describe("findByNumber", () => {
    it.effect("returns numbers that are not released, of any tenant", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const one = yield* Sample.owner
        const two = yield* Sample.owner
        const gone = yield* Sample.stored(one.tenant)
        yield* store.update(Sample.released(gone))
        const suspended: PhoneNumber = { ...two.number, state: "suspended", suspension: "expired" }
        yield* store.update(suspended)
        const reserved = yield* Sample.e164
        yield* store.reserve(reserved, yield* Fresh.id)

        const asked = [one.number, two.number, gone].map(({ number }) => number)
        assert.deepStrictEqual(yield* store.findByNumber(asked[0]!), Option.some(one.number))
        assert.deepStrictEqual(yield* store.findByNumber(asked[1]!), Option.some(suspended))
        for (const number of [asked[2]!, reserved, yield* Sample.e164, "", "%"]) {
          assert.deepStrictEqual(yield* store.findByNumber(number), Option.none())
        }
        const found = yield* store.findByNumbers([...asked, reserved, yield* Sample.e164, asked[0]!])
        assert.sameDeepMembers([...found], [one.number, suspended])
        assert.deepStrictEqual(yield* store.findByNumbers([]), [])
      })
    )

    it.effect("returns the current holder of the number, not earlier ones", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { number, tenantId } = yield* Sample.owner
        yield* store.update(Sample.released(number))
        const next = yield* Sample.stored(yield* Fresh.tenant, { number: number.number })
        assert.deepStrictEqual(yield* store.findByNumber(number.number), Option.some(next))
        assert.deepStrictEqual(yield* store.findByNumbers([number.number]), [next])
        assert.deepStrictEqual(yield* store.list(tenantId), [Sample.released(number)])
      })
    )
  })

  describe("update", () => {
    it.effect("replaces the fields of the number that can change", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { number, tenantId } = yield* Sample.owner
        const later = Timestamp.add(number.expiresAt, 30 * Timestamp.DAY)
        const versions: ReadonlyArray<PhoneNumber> = [
          {
            ...number,
            agentName: "O'Brien 👋",
            agentWebhookUrl: "https://other.example/?a=%20",
            description: "one\ntwo",
            beginMessage: "Hello",
            voice: "a voice",
            language: "fr-CA",
            expiresAt: later,
            nextNotice: { daysBefore: 3, at: Timestamp.add(later, -3 * Timestamp.DAY) },
            allowance: { purchasedSeconds: 1_200, usedSeconds: 61 },
            callbackKeyId: 7,
            callbackVersion: 2
          },
          number,
          { ...number, nextNotice: null },
          { ...number, state: "suspended", suspension: "expired" },
          { ...Sample.released(number), releasedAt: later }
        ]
        for (const version of versions) {
          assert.isTrue(yield* store.update(version))
          assert.deepStrictEqual(yield* store.find(tenantId, number.phoneNumberId), { _tag: "Owned", value: version })
        }
      })
    )

    it.effect("changes nothing for another tenant, or of a released or unknown number", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { number, tenant, tenantId } = yield* Sample.owner
        const other = yield* Fresh.tenant
        assert.isFalse(yield* store.update({ ...number, tenantId: other.tenantId, agentName: "mine" }))
        assert.deepStrictEqual(yield* store.list(tenantId), [number])
        assert.deepStrictEqual(yield* store.list(other.tenantId), [])
        assert.isFalse(yield* store.update(yield* Sample.phoneNumber(tenant)))

        assert.isTrue(yield* store.update(Sample.released(number)))
        assert.isFalse(yield* store.update(number))
        assert.isFalse(yield* store.update(Sample.released(number)))
        assert.deepStrictEqual(yield* store.list(tenantId), [Sample.released(number)])
      })
    )
  })
}
