import { type PhoneNumber, PhoneNumberStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import * as Sample from "./PhoneNumberSample.ts"

/** Tests of `findEach` and `updateEach`. */
export const numberBatchTests: ContractTests<PhoneNumberStore> = (it) => {
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
