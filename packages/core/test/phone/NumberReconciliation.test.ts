import {
  audited,
  AuditStore,
  Numbers,
  OperationCompletion,
  PhoneNumberStore,
  releaseUnrecorded,
  TenantAdministration,
  TenantStore,
  walletAddress
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Metric, Option } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, phoneRequest, PURCHASE, runJob, storedNumber } from "../support/PhonePurchase.ts"
import { ADA, eventsOf, failureOf, type Host, scenario, underClock } from "../support/Purchase.ts"

/** The gauge of the job. */
const UNRECORDED = Metric.gauge("agentos_numbers_unrecorded", {
  description: "Numbers at the carrier without a record, as of this server's last run of number-reconciliation."
})

const numbersOf = ({ carrier }: Host): ReadonlyArray<string> => carrier.owned.map(({ number }) => number)

/** A number that the carrier sold without an answer, to a tenant that was then suspended, so that it was refunded. */
const abandonedNumber = Effect.fnUntraced(function* (host: Host) {
  const before = numbersOf(host)
  const { tenantId } = Option.getOrThrow(yield* (yield* TenantStore).findByWallet(walletAddress(ADA)))
  const administration = yield* TenantAdministration
  host.carrier.script.buy = ["done, answer lost"]
  const { signed } = yield* phoneRequest({ serviceId: "phone.number.us.30d", input: PURCHASE })
  yield* failureOf(underClock(yield* signed))
  yield* administration.suspend(tenantId, "a test")
  const completion = yield* Effect.forkChild(OperationCompletion.run)
  yield* TestClock.adjust("60 seconds")
  yield* Fiber.interrupt(completion)
  yield* administration.resume(tenantId)
  const [bought] = numbersOf(host).filter((number) => !before.includes(number))
  return bought!
})

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
      assert.strictEqual(yield* runJob("number-reconciliation"), 0)
      assert.deepStrictEqual(host.carrier.owned, [...strangers, ours!])
    })
  )

  scenario("match again except for one that the carrier does not release: the job fails, and is run again", (host) =>
    Effect.gen(function* () {
      const lost = yield* adasNumber
      yield* abandonedNumber(host)
      yield* abandonedNumber(host)
      const [, kept = ""] = numbersOf(host)
      host.carrier.owned.shift()
      host.carrier.script.release = ["Rejected"]
      const failed = yield* failureOf(runJob("number-reconciliation"))
      assert.strictEqual(failed._tag, "JobFailed")
      assert.strictEqual((yield* storedNumber(lost)).state, "released")
      assert.deepStrictEqual(numbersOf(host), [kept])
      assert.strictEqual(yield* runJob("number-reconciliation"), 1)
      assert.lengthOf(host.carrier.owned, 0)
    })
  )

  scenario("match again after one of a refunded purchase is released, and can then be bought", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const abandoned = yield* abandonedNumber(host)
      assert.include(numbersOf(host), abandoned)
      assert.strictEqual(yield* runJob("number-reconciliation"), 1)
      assert.deepStrictEqual(numbersOf(host), [number.number])
      const numbers = yield* PhoneNumberStore
      assert.deepStrictEqual(yield* numbers.findReserved([abandoned]), [])
    })
  )

  scenario("keep one that is being bought, and one without a record, which the operator may release", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const [reserved, unrecorded] = ["+14155550101", "+14155550102"]
      yield* (yield* PhoneNumberStore).reserve(reserved, "01900000-0000-7000-8000-0000000000aa")
      host.carrier.owned.push({ number: reserved, providerNumberId: "PN8" })
      host.carrier.owned.push({ number: unrecorded, providerNumberId: "PN9" })
      const gauge = Effect.map(Metric.value(UNRECORDED), ({ value }) => value)
      assert.strictEqual(yield* runJob("number-reconciliation"), 0)
      assert.strictEqual(yield* gauge, 1)
      assert.deepStrictEqual(numbersOf(host), [number.number, reserved, unrecorded])
      for (const recorded of [number.number, reserved]) {
        assert.deepInclude(yield* failureOf(releaseUnrecorded(recorded)), { reason: "recorded" })
      }
      assert.deepInclude(yield* failureOf(releaseUnrecorded("+14155550103")), { reason: "not at the carrier" })
      yield* releaseUnrecorded(unrecorded)
      assert.deepStrictEqual(numbersOf(host), [number.number, reserved])
      assert.strictEqual(yield* runJob("number-reconciliation"), 0)
      assert.strictEqual(yield* gauge, 0)
    })
  )

  scenario(
    "have a record of a release by the operator before the carrier is asked, in case the process is killed",
    (host) =>
      Effect.gen(function* () {
        const number = "+14155550102"
        host.carrier.owned.push({ number, providerNumberId: "PN9" })
        host.carrier.script.release = ["done, answered late"]
        const mutation = { actor: "ada", action: "number.release", target: number, reason: "Unused" }
        const releasing = yield* Effect.forkChild(audited(mutation, releaseUnrecorded(number)))
        yield* TestClock.adjust("1 second")
        assert.notInclude(numbersOf(host), number)
        const { list } = yield* AuditStore
        const begun = { ...mutation, action: "number.begin-release", outcome: "succeeded" } as const
        const [only, ...more] = yield* list({ limit: 2 })
        assert.deepInclude(only, { ...begun, before: '{"providerNumberId":"PN9"}', after: "null" })
        assert.isEmpty(more)
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(releasing)
        assert.sameMembers(
          (yield* list({ limit: 3 })).map(({ action }) => action),
          ["number.begin-release", "number.release"]
        )
      })
  )

  scenario("differ by a reservation of a refunded purchase that bought nothing, which ends after an hour", (host) =>
    Effect.gen(function* () {
      yield* adasNumber
      const abandoned = yield* abandonedNumber(host)
      const numbers = yield* PhoneNumberStore
      host.carrier.owned.pop()
      assert.strictEqual(yield* runJob("number-reconciliation"), 0)
      assert.lengthOf(yield* numbers.findReserved([abandoned]), 1)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* runJob("number-reconciliation"), 0)
      assert.deepStrictEqual(yield* numbers.findReserved([abandoned]), [])
    })
  )
})
