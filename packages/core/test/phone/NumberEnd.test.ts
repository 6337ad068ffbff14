import { JobRunner, PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, bought, phoneRequest } from "../support/PhonePurchase.ts"
import { eventsOf, failureOf, scenario } from "../support/Purchase.ts"

type Number_ = Effect.Success<typeof adasNumber>

const run = (job: string) => Effect.flatMap(JobRunner, ({ runNow }) => runNow(job))

const renewal = ({ phoneNumberId, tenant }: Number_) =>
  ({ serviceId: "phone.number.renew.30d", tenant, input: { phoneNumberId } }) as const

const stored = Effect.fnUntraced(function* ({ tenant }: Number_) {
  const [number] = yield* (yield* PhoneNumberStore).list(tenant.tenantId)
  return number!
})

const noticesOf = Effect.fnUntraced(function* ({ tenant }: Number_) {
  const events = (yield* eventsOf(tenant)).filter(({ type }) => type === "phone.number.expiring")
  return events.map(({ payload }) => payload["daysBefore"])
})

describe("the end of a number", () => {
  scenario("is told of 5, 3 and 1 days before, once each, with all that renewing needs", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* TestClock.adjust(25 * Timestamp.DAY - Timestamp.SECOND)
      assert.strictEqual(yield* run("number-notices"), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* run("number-notices"), 1)
      assert.strictEqual(yield* run("number-notices"), 0)
      const { expiresAt } = yield* stored(number)
      assert.deepInclude((yield* eventsOf(number.tenant)).at(-1)?.payload, {
        phoneNumberId: number.phoneNumberId,
        number: number.number,
        daysBefore: 5,
        expiresAt: Timestamp.toIso(expiresAt),
        renewalDeadline: Timestamp.toIso(expiresAt),
        price: { amount: "5.00", asset: "USDT" },
        renewalEndpoint: { method: "POST", path: "/api/v1/phone/renew-number-30-days" },
        requestBody: { phoneNumberId: number.phoneNumberId }
      })
      // Nothing runs for four days.
      yield* TestClock.adjust("4 days")
      yield* run("number-notices")
      assert.deepStrictEqual(yield* noticesOf(number), [5, 3, 1])
    })
  )

  scenario("moves by 30 days with each renewal, whenever that is, and is told of anew", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const { expiresAt } = yield* stored(number)
      yield* TestClock.adjust("28 days")
      yield* run("number-notices")
      yield* bought(renewal(number))
      yield* bought(renewal(number))
      assert.strictEqual((yield* stored(number)).expiresAt - expiresAt, 60 * Timestamp.DAY)
      const renewals = (yield* eventsOf(number.tenant)).filter(({ type }) => type === "phone.number.renewed")
      assert.lengthOf(renewals, 2)
      yield* TestClock.adjust("57 days")
      yield* run("number-notices")
      assert.deepStrictEqual(yield* noticesOf(number), [5, 3, 5])
    })
  )

  scenario("takes it out of use at once, and gives it back to the carrier, whenever that listens", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* TestClock.adjust("30 days")
      assert.strictEqual((yield* failureOf((yield* phoneRequest(renewal(number))).unpaid))._tag, "NumberReleased")
      host.carrier.script.release = ["Temporary"]
      yield* run("number-expiry")
      assert.deepInclude(yield* stored(number), { state: "suspended", suspension: "expired" })
      assert.lengthOf(host.carrier.owned, 1)
      yield* run("number-expiry")
      assert.deepInclude(yield* stored(number), { state: "released" })
      assert.lengthOf(host.carrier.owned, 0)
      const types = (yield* eventsOf(number.tenant)).map(({ type }) => type)
      assert.deepStrictEqual(types.slice(-2), ["phone.number.suspended", "phone.number.released"])
    })
  )
})

describe("numbers and the carrier's", () => {
  scenario("agree again when one vanished there", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      host.carrier.owned.splice(0)
      assert.strictEqual(yield* run("number-reconciliation"), 1)
      assert.strictEqual((yield* stored(number)).state, "released")
      assert.strictEqual((yield* eventsOf(number.tenant)).at(-1)?.type, "phone.number.reconciled")
      assert.strictEqual(yield* run("number-reconciliation"), 0)
    })
  )

  scenario("agree again when one is there for nobody, and leave alone what is being bought", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const chosen = "+14155550101"
      yield* (yield* PhoneNumberStore).choose(chosen, "01900000-0000-7000-8000-0000000000aa")
      host.carrier.owned.push({ number: chosen, providerNumberId: "PN8" })
      host.carrier.owned.push({ number: "+14155550102", providerNumberId: "PN9" })
      assert.strictEqual(yield* run("number-reconciliation"), 1)
      assert.deepStrictEqual(
        host.carrier.owned.map((one) => one.number),
        [number.number, chosen]
      )
    })
  )
})
