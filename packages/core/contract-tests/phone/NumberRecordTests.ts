import { type PhoneNumber, PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import * as Sample from "./PhoneNumberSample.ts"

/** Tests of `findEach` and `updateEach`. */
const batchTests: ContractTests<PhoneNumberStore> = (it) => {
  describe("findEach", () => {
    it.effect("returns existing numbers to their own tenant only, whatever their state", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const [one, two] = yield* Effect.all([Sample.owner, Sample.owner])
        const gone = yield* Sample.stored(one.tenant)
        yield* store.update(Sample.released(gone))
        const foreign = { tenantId: one.tenantId, phoneNumberId: two.number.phoneNumberId }
        const nobodys = { tenantId: one.tenantId, phoneNumberId: yield* Fresh.id }
        const found = yield* store.findEach([two.number, gone, foreign, nobodys, one.number, two.number])
        assert.sameDeepMembers([...found], [one.number, two.number, Sample.released(gone)])
        assert.deepStrictEqual(yield* store.findEach([foreign, nobodys]), [])
        assert.deepStrictEqual(yield* store.findEach([{ tenantId: one.tenantId, phoneNumberId: "none" }]), [])
        assert.deepStrictEqual(yield* store.findEach([]), [])
      })
    )
  })

  describe("updateEach", () => {
    it.effect("replaces all fields that can change, with null if none is set", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const tenants = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        const changed: Array<PhoneNumber> = []
        for (const [index, text] of AWKWARD_TEXTS.entries()) {
          const number = yield* Sample.stored(tenants[index % 2]!)
          changed.push({
            ...number,
            agentName: text,
            agentWebhookUrl: text,
            description: text,
            beginMessage: text,
            voice: text,
            language: text,
            nextNotice: { daysBefore: 3, at: number.createdAt },
            allowance: { purchasedSeconds: index * 600, usedSeconds: index },
            callbackKeyId: index,
            callbackVersion: index + 1
          })
        }
        const isTrue = () => true
        assert.deepStrictEqual(yield* store.updateEach(changed), changed.map(isTrue))
        assert.sameDeepMembers([...(yield* store.findEach(changed))], changed)
        const none = { description: null, beginMessage: null, voice: null, language: null, nextNotice: null }
        const cleared = changed.toReversed().map((number) => ({ ...number, ...none }))
        assert.deepStrictEqual(yield* store.updateEach(cleared), cleared.map(isTrue))
        assert.sameDeepMembers([...(yield* store.findEach(changed))], cleared)
      })
    )

    it.effect("returns whether each changed: numbers of others, released and unknown ones do not", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const [one, two] = yield* Effect.all([Sample.owner, Sample.owner])
        const [ending, over, kept] = yield* Effect.all(Array.replicate(Sample.stored(one.tenant), 3))
        yield* store.update(Sample.released(over!))
        const answers = yield* store.updateEach([
          { ...two.number, tenantId: one.tenantId, agentName: "mine" },
          { ...one.number, agentName: "Eve" },
          yield* Sample.phoneNumber(one.tenant),
          Sample.released(ending!),
          { ...over!, agentName: "late" }
        ])
        assert.deepStrictEqual(answers, [false, true, false, true, false])
        assert.sameDeepMembers(
          [...(yield* store.list(one.tenantId))],
          [{ ...one.number, agentName: "Eve" }, Sample.released(ending!), Sample.released(over!), kept!]
        )
        assert.deepStrictEqual(yield* store.list(two.tenantId), [two.number])
        assert.deepStrictEqual(yield* store.updateEach([]), [])
      })
    )

    it.effect("frees the numbers of released ones, and of no others", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { number, tenant } = yield* Sample.owner
        const other = yield* Sample.stored(tenant)
        yield* store.updateEach([Sample.released(number), { ...other, state: "suspended", suspension: "expired" }])
        assert.strictEqual(yield* store.reserve(number.number, yield* Fresh.id), "reserved")
        assert.strictEqual(yield* store.reserve(other.number, yield* Fresh.id), "taken")
      })
    )

    it.effect("rejects a number that is given twice", () =>
      Effect.gen(function* () {
        const store = yield* PhoneNumberStore
        const { number, tenantId } = yield* Sample.owner
        yield* refused(store.updateEach([{ ...number, agentName: "Eve" }, number]))
        assert.deepStrictEqual(yield* store.list(tenantId), [number])
      })
    )
  })
}

/** Tests of `create`, `find`, `findEach`, `list`, `findByNumber`, `findByNumbers`, `update` and `updateEach`. */
export const numberRecordTests: ContractTests<PhoneNumberStore> = (it, capabilities) => {
  batchTests(it, capabilities)

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
