import { CallAdmission, CallStore, numberExpiry, numberNotices, PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  adasNumber,
  type AdasNumber,
  bought,
  PERSON,
  phoneRequest,
  PURCHASE,
  runJob,
  storedNumber
} from "../support/PhonePurchase.ts"
import { eventsOf, failureOf, scenario } from "../support/Purchase.ts"

const renewal = ({ phoneNumberId, tenant }: AdasNumber) =>
  ({ serviceId: "phone.number.renew.30d", tenant, input: { phoneNumberId } }) as const

const noticesOf = Effect.fnUntraced(function* ({ tenant }: AdasNumber) {
  const events = (yield* eventsOf(tenant)).filter(({ type }) => type === "phone.number.expiring")
  return events.map(({ payload }) => payload["daysBefore"])
})

describe("the end of a number", () => {
  scenario("is announced 5, 3 and 1 days before, once each, with all data for a renewal", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* TestClock.adjust(25 * Timestamp.DAY - Timestamp.SECOND)
      assert.strictEqual(yield* runJob("number-notices"), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* runJob("number-notices"), 1)
      assert.strictEqual(yield* runJob("number-notices"), 0)
      const { expiresAt } = yield* storedNumber(number)
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
      // No job runs for four days.
      yield* TestClock.adjust("4 days")
      yield* runJob("number-notices")
      assert.deepStrictEqual(yield* noticesOf(number), [5, 3, 1])
    })
  )

  scenario("is not announced after it has come, because the number can't be renewed any more", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* TestClock.adjust("30 days")
      yield* runJob("number-notices")
      assert.strictEqual(yield* runJob("number-notices"), 0)
      assert.deepStrictEqual(yield* noticesOf(number), [])
      yield* runJob("number-expiry")
      assert.strictEqual((yield* storedNumber(number)).state, "released")
    })
  )

  scenario("moves by 30 days with each renewal, at any time, and is announced again", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const { expiresAt } = yield* storedNumber(number)
      yield* TestClock.adjust("28 days")
      yield* runJob("number-notices")
      yield* bought(renewal(number))
      yield* bought(renewal(number))
      assert.strictEqual((yield* storedNumber(number)).expiresAt - expiresAt, 60 * Timestamp.DAY)
      const renewals = (yield* eventsOf(number.tenant)).filter(({ type }) => type === "phone.number.renewed")
      assert.lengthOf(renewals, 2)
      yield* TestClock.adjust("57 days")
      yield* runJob("number-notices")
      assert.deepStrictEqual(yield* noticesOf(number), [5, 3, 5])
    })
  )

  scenario("suspends it immediately, and releases it at the carrier as soon as the carrier responds", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* TestClock.adjust("30 days")
      assert.strictEqual((yield* failureOf((yield* phoneRequest(renewal(number))).unpaid))._tag, "NumberReleased")
      host.carrier.script.release = ["Temporary"]
      yield* runJob("number-expiry")
      assert.deepInclude(yield* storedNumber(number), { state: "suspended", suspension: "expired" })
      assert.lengthOf(host.carrier.owned, 1)
      yield* runJob("number-expiry")
      assert.deepInclude(yield* storedNumber(number), { state: "released" })
      assert.lengthOf(host.carrier.owned, 0)
      const types = (yield* eventsOf(number.tenant)).map(({ type }) => type)
      assert.deepStrictEqual(types.slice(-2), ["phone.number.suspended", "phone.number.released"])
    })
  )
})

/** Three numbers of Ada, bought one after the other. */
const threeNumbers = Effect.gen(function* () {
  const { tenant } = yield* adasNumber
  for (const _ of ["second", "third"]) yield* bought({ serviceId: "phone.number.us.30d", input: PURCHASE })
  const list = Effect.flatMap(PhoneNumberStore, (numbers) => numbers.list(tenant.tenantId))
  const told = (type: string) =>
    Effect.map(eventsOf(tenant), (events) =>
      events.filter((event) => event.type === type).map(({ payload }) => payload["phoneNumberId"])
    )
  const [first, second, third] = yield* list
  return { tenant, list, told, ids: [first!.phoneNumberId, second!.phoneNumberId, third!.phoneNumberId] as const }
})

describe("many numbers that end at the same time", () => {
  scenario("are each announced once", () =>
    Effect.gen(function* () {
      const { ids, tenant, told } = yield* threeNumbers
      yield* TestClock.adjust("24 days")
      yield* bought({ serviceId: "phone.number.renew.30d", tenant, input: { phoneNumberId: ids[1] } })
      yield* TestClock.adjust("4 days")
      assert.strictEqual(yield* runJob("number-notices"), 2)
      assert.strictEqual(yield* runJob("number-notices"), 0)
      assert.sameMembers(yield* told("phone.number.expiring"), [ids[0], ids[0], ids[2], ids[2]])
    })
  )

  scenario("are released together, except those that the carrier does not release yet", (host) =>
    Effect.gen(function* () {
      const { ids, list, told } = yield* threeNumbers
      yield* TestClock.adjust("30 days")
      host.carrier.script.release = ["do", "Temporary"]
      assert.strictEqual(yield* runJob("number-expiry"), 3 + 2)
      const kept = (yield* list).filter(({ state }) => state === "suspended")
      assert.deepStrictEqual(
        kept.map(({ number }) => number),
        host.carrier.owned.map(({ number }) => number)
      )
      assert.lengthOf(kept, 1)
      assert.sameMembers(yield* told("phone.number.suspended"), [...ids])
      assert.lengthOf(yield* told("phone.number.released"), 2)
      assert.strictEqual(yield* runJob("number-expiry"), 1)
      assert.strictEqual(yield* runJob("number-expiry"), 0)
      assert.sameMembers(yield* told("phone.number.released"), [...ids])
      assert.deepStrictEqual(new Set((yield* list).map(({ state }) => state)), new Set(["released"]))
    })
  )

  scenario("end their own calls, and no others", (host) =>
    Effect.gen(function* () {
      const { ids, tenant } = yield* threeNumbers
      yield* TestClock.adjust("24 days")
      yield* bought({ serviceId: "phone.number.renew.30d", tenant, input: { phoneNumberId: ids[1] } })
      yield* TestClock.adjust(6 * Timestamp.DAY - 2 * Timestamp.MINUTE)
      for (const phoneNumberId of ids) {
        const { call } = yield* bought({
          serviceId: "phone.call.outbound.1m",
          tenant,
          input: { phoneNumberId, toNumber: PERSON }
        })
        yield* (yield* CallAdmission).answered((call as { readonly callId: string }).callId)
      }
      yield* TestClock.adjust("2 minutes")
      yield* runJob("number-expiry")
      const calls = yield* CallStore
      const states = yield* Effect.forEach(ids, (id) => Effect.map(calls.live(id), ([call]) => call?.hangUpReason))
      assert.deepStrictEqual(states, ["hangup_agent", null, "hangup_agent"])
      assert.lengthOf(
        host.carrier.log.filter((line) => line.startsWith("hangUp")),
        2
      )
    })
  )

  scenario("are read and changed together, never one at a time", () =>
    Effect.gen(function* () {
      const { list, told } = yield* threeNumbers
      yield* TestClock.adjust("29 days")
      const one = () => Effect.die(new Error("one at a time"))
      const numbers = PhoneNumberStore.of({ ...(yield* PhoneNumberStore), find: one, update: one })
      const calls = CallStore.of({ ...(yield* CallStore), live: one })
      yield* (yield* Effect.provideService(numberNotices, PhoneNumberStore, numbers)).run
      assert.lengthOf(yield* told("phone.number.expiring"), 9)
      yield* TestClock.adjust("1 day")
      const expiry = numberExpiry.pipe(
        Effect.provideService(PhoneNumberStore, numbers),
        Effect.provideService(CallStore, calls)
      )
      yield* (yield* expiry).run
      assert.deepStrictEqual(
        (yield* list).map(({ state }) => state),
        ["released", "released", "released"]
      )
    })
  )

  scenario("are skipped if they were renewed after they were listed", () =>
    Effect.gen(function* () {
      const { ids, list, tenant, told } = yield* threeNumbers
      const stale = yield* list
      yield* TestClock.adjust("29 days")
      yield* bought({ serviceId: "phone.number.renew.30d", tenant, input: { phoneNumberId: ids[0] } })
      const numbers = yield* PhoneNumberStore
      const outdated = PhoneNumberStore.of({
        ...numbers,
        dueForNotice: () => Effect.succeed(stale),
        expired: () => Effect.succeed(stale)
      })
      yield* (yield* Effect.provideService(numberNotices, PhoneNumberStore, outdated)).run
      assert.sameMembers(yield* told("phone.number.expiring"), [ids[1], ids[1], ids[1], ids[2], ids[2], ids[2]])
      yield* TestClock.adjust("1 day")
      yield* (yield* Effect.provideService(numberExpiry, PhoneNumberStore, outdated)).run
      assert.deepStrictEqual(
        (yield* list).map(({ state }) => state),
        ["active", "released", "released"]
      )
    })
  )
})
