import { OperationCompletion, PhoneNumberStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, bought, phoneRequest, PURCHASE } from "../support/PhonePurchase.ts"
import { balances, eventsOf, failureOf, scenario, underClock } from "../support/Purchase.ts"

const us = (input: object = {}) => ({ serviceId: "phone.number.us.30d", input: { ...PURCHASE, ...input } }) as const

describe("buying a number", () => {
  scenario("returns a number for exactly 30 days, its secret and the wallet's token", (host) =>
    Effect.gen(function* () {
      const { data, number, tenant } = yield* adasNumber
      assert.strictEqual(number, "+14155550100")
      assert.deepStrictEqual(host.carrier.owned, [{ number, providerNumberId: "PN1" }])
      assert.match(String(data["callbackVerificationSecret"]), /^\S{20,}$/)
      assert.match(JSON.stringify(data["authentication"]), /"accessToken":"at_v1_\w+"/)
      assert.deepInclude(data["phoneNumber"], { status: "active", country: "US", agentName: "Ada's agent" })
      const [stored] = yield* (yield* PhoneNumberStore).list(tenant.tenantId)
      assert.strictEqual(stored!.expiresAt - stored!.startedAt, 30 * 86_400_000)
      assert.deepStrictEqual(yield* balances, { received: -5_000_000n, fulfilled: 5_000_000n })
    })
  )

  scenario("suggests nearby area codes first if the requested one has no numbers", () =>
    Effect.gen(function* () {
      const { unpaid } = yield* phoneRequest(us({ areaCode: "414" }))
      assert.include(
        (yield* failureOf(unpaid)).message,
        "areaCode 414 has no US number for sale at the moment. Choose a nearby one: 415"
      )
    })
  )

  scenario("reports before payment that an area code has no numbers, and suggests others", () =>
    Effect.gen(function* () {
      const { unpaid } = yield* phoneRequest(us({ areaCode: "999" }))
      const error = yield* failureOf(unpaid)
      assert.strictEqual(error._tag, "Conflict")
      assert.include(error.message, "areaCode 999")
      assert.include(error.message, "415")
    })
  )

  scenario("refuses an invalid agent address before payment", () =>
    Effect.gen(function* () {
      const { unpaid } = yield* phoneRequest(us({ agentWebhookUrl: "https://private.example/" }))
      assert.deepInclude(yield* failureOf(unpaid), { _tag: "InvalidRequest" })
    })
  )

  scenario("does not ask for payment while the carrier's search is unavailable", (host) =>
    Effect.gen(function* () {
      host.carrier.script.search = ["Temporary"]
      const { unpaid } = yield* phoneRequest(us())
      assert.deepInclude(yield* failureOf(unpaid), { _tag: "ProviderUnavailable" })
    })
  )

  for (const outcome of ["Unknown", "done, answer lost", "Temporary"] as const) {
    scenario(`buys one number when the carrier's answer is: ${outcome}`, (host) =>
      Effect.gen(function* () {
        host.carrier.script.buy = [outcome]
        const { signed } = yield* phoneRequest(us())
        const attempt = yield* signed
        yield* failureOf(underClock(attempt))
        yield* Effect.forkScoped(OperationCompletion.run)
        yield* TestClock.adjust("60 seconds")
        const answer = yield* attempt
        assert.isTrue(answer.created)
        assert.lengthOf(host.carrier.owned, 1)
        assert.deepStrictEqual(yield* balances, { received: -5_000_000n, fulfilled: 5_000_000n })
      })
    )
  }

  scenario("buys another number when the first one was sold meanwhile", (host) =>
    Effect.gen(function* () {
      host.carrier.script.buy = ["Rejected"]
      const { number } = yield* adasNumber
      assert.strictEqual(number, "+14155550101")
      assert.lengthOf(host.carrier.owned, 1)
    })
  )

  scenario("buys another number when another deployment of the account has just bought the first one", (host) =>
    Effect.gen(function* () {
      host.carrier.others.push({ number: "+14155550100", providerNumberId: "PN0" })
      const { number } = yield* adasNumber
      assert.strictEqual(number, "+14155550101")
      assert.deepStrictEqual(
        host.carrier.owned.map((one) => one.number),
        [number]
      )
    })
  )

  scenario("refunds when the carrier has no numbers left after the payment", (host) =>
    Effect.gen(function* () {
      host.carrier.script.buy = ["Rejected", "Rejected", "Rejected"]
      const { signed } = yield* phoneRequest(us())
      const error = yield* failureOf(yield* signed)
      assert.deepInclude(error, { _tag: "OperationRejected" })
      assert.lengthOf(host.carrier.owned, 0)
      // The reserved number is available again.
      assert.include(yield* bought(us()), { number: "+14155550100" })
    })
  )

  scenario("gives two concurrent purchases two numbers", (host) =>
    Effect.gen(function* () {
      const one = yield* phoneRequest(us())
      const other = yield* phoneRequest(us())
      yield* Effect.all([yield* one.signed, yield* other.signed], { concurrency: 2 })
      assert.strictEqual(new Set(host.carrier.owned.map(({ number }) => number)).size, 2)
    })
  )

  scenario("appends an event for its payment only: the number is in the answer", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasNumber
      assert.deepStrictEqual(
        (yield* eventsOf(tenant)).map(({ type }) => type),
        ["payment.completed"]
      )
    })
  )
})
