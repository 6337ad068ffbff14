import { Numbers, PhoneNumberStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { adasNumber, runJob, storedNumber } from "../support/PhonePurchase.ts"
import { eventsOf, failureOf, scenario } from "../support/Purchase.ts"

describe("the stored numbers and the carrier's numbers", () => {
  scenario("match again after one vanished at the carrier", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      host.carrier.owned.splice(0)
      assert.strictEqual(yield* runJob("number-reconciliation"), 1)
      assert.strictEqual((yield* storedNumber(number)).state, "released")
      assert.strictEqual((yield* eventsOf(number.tenant)).at(-1)?.type, "phone.number.reconciled")
      assert.strictEqual(yield* runJob("number-reconciliation"), 0)
    })
  )

  scenario("match again after one vanished during its release, which keeps the reason of its release", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      host.carrier.script.release = ["done, answer lost"]
      yield* failureOf((yield* Numbers).release(number.tenant, number.phoneNumberId))
      assert.strictEqual(yield* runJob("number-reconciliation"), 1)
      assert.strictEqual((yield* storedNumber(number)).state, "released")
      const last = (yield* eventsOf(number.tenant)).at(-1)
      assert.strictEqual(last?.type, "phone.number.released")
      assert.deepInclude(last?.payload, { reason: "release_requested" })
    })
  )

  scenario("are not compared without a working carrier and without numbers; with a number, the job fails", (host) =>
    Effect.gen(function* () {
      host.carrier.script.listNumbers = ["Misconfigured", "Temporary", "Misconfigured"]
      assert.strictEqual(yield* runJob("number-reconciliation"), 0)
      assert.strictEqual((yield* failureOf(runJob("number-reconciliation")))._tag, "JobFailed")
      yield* adasNumber
      assert.strictEqual((yield* failureOf(runJob("number-reconciliation")))._tag, "JobFailed")
    })
  )

  scenario("are both left unchanged if they have nothing in common, as with a wrong account or database", (host) =>
    Effect.gen(function* () {
      const strangers = Array.from({ length: 5 }, (_, index) => ({
        number: `+1604555010${index}`,
        providerNumberId: `PN9${index}`
      }))
      const number = yield* adasNumber
      const [ours] = host.carrier.owned.splice(0, 1, ...strangers)
      assert.strictEqual((yield* failureOf(runJob("number-reconciliation")))._tag, "JobFailed")
      assert.strictEqual((yield* storedNumber(number)).state, "active")
      assert.deepStrictEqual(host.carrier.owned, strangers)
      host.carrier.owned.push(ours!)
      assert.strictEqual(yield* runJob("number-reconciliation"), 5)
      assert.deepStrictEqual(host.carrier.owned, [ours])
    })
  )

  scenario("match again except for one that the carrier does not release: the job fails, and is run again", (host) =>
    Effect.gen(function* () {
      const lost = yield* adasNumber
      host.carrier.owned.splice(0)
      const [kept, orphan] = ["+14155550101", "+14155550102"]
      host.carrier.owned.push({ number: kept, providerNumberId: "PN8" }, { number: orphan, providerNumberId: "PN9" })
      host.carrier.script.release = ["Rejected"]
      const failed = yield* failureOf(runJob("number-reconciliation"))
      assert.strictEqual(failed._tag, "JobFailed")
      assert.strictEqual((yield* storedNumber(lost)).state, "released")
      assert.deepStrictEqual(
        host.carrier.owned.map(({ number }) => number),
        [kept]
      )
      assert.strictEqual(yield* runJob("number-reconciliation"), 1)
      assert.lengthOf(host.carrier.owned, 0)
    })
  )

  scenario("match again after an unknown one is released; those that are being bought are not touched", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const reserved = "+14155550101"
      yield* (yield* PhoneNumberStore).reserve(reserved, "01900000-0000-7000-8000-0000000000aa")
      host.carrier.owned.push({ number: reserved, providerNumberId: "PN8" })
      host.carrier.owned.push({ number: "+14155550102", providerNumberId: "PN9" })
      assert.strictEqual(yield* runJob("number-reconciliation"), 1)
      assert.deepStrictEqual(
        host.carrier.owned.map((one) => one.number),
        [number.number, reserved]
      )
    })
  )
})
