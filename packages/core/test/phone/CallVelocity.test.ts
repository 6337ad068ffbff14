import {
  CallAdmission,
  CallPolicy,
  CallReports,
  DEFAULT_CALL_POLICY,
  OperationCompletion,
  OperationSteps,
  Timestamp
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, type AdasNumber, bought, PERSON, phoneRequest } from "../support/PhonePurchase.ts"
import { balances, failureOf, scenario } from "../support/Purchase.ts"

const under = (policy: Partial<CallPolicy>) => Layer.succeed(CallPolicy, { ...DEFAULT_CALL_POLICY, ...policy })
const FREELY = { perNumber: 100, perTenant: 100 }
const perHour = (limits: Partial<CallPolicy["perHour"]>) =>
  under({ atOnce: FREELY, perHour: { calls: 100, toOneNumber: 100, short: 100, ...limits } })

const callTo = ({ phoneNumberId, tenant }: AdasNumber, toNumber: string) =>
  ({ serviceId: "phone.call.outbound.1m", tenant, input: { phoneNumberId, toNumber } }) as const

const placed = Effect.fnUntraced(function* (number: AdasNumber, toNumber = PERSON) {
  const { call } = (yield* bought(callTo(number, toNumber))) as { readonly call: { readonly callId: string } }
  return call.callId
})

/** Makes `count` paid calls wait for each other before the first of them is placed. */
const placedTogether = (count: number) => {
  const allPaid = Latch.makeUnsafe()
  let paid = 0
  return Layer.succeed(OperationSteps, (step, { serviceId }) =>
    Effect.suspend(() => {
      if (step !== "before_perform" || serviceId !== "phone.call.outbound.1m") return Effect.void
      if (++paid === count) allPaid.openUnsafe()
      return allPaid.await
    })
  )
}

/** The answer to the next unpaid call request. */
const answerTo = Effect.fnUntraced(function* (number: AdasNumber, toNumber = PERSON) {
  const { unpaid } = yield* phoneRequest(callTo(number, toNumber))
  const error = yield* failureOf(unpaid)
  if (error._tag === "PaymentRequired") return "a challenge"
  const wait = error._tag === "QuotaExceeded" ? ` (${error.retryAfterSeconds} s)` : ""
  return `${error._tag}: ${error.message}${wait}`
})

const ended = Effect.fnUntraced(function* (callId: string, seconds: number | null) {
  if (seconds !== null) yield* (yield* CallAdmission).answered(callId)
  yield* TestClock.adjust(`${seconds ?? 1} seconds`)
  const at = yield* Timestamp.now
  const ending = seconds === null ? "no_answer" : "completed"
  yield* (yield* CallReports).apply(callId, { _tag: "Ended", at, ending, seconds })
})

describe("a call", () => {
  scenario(
    "is refused before payment while its number has the maximum of concurrent calls",
    () =>
      Effect.gen(function* () {
        const number = yield* adasNumber
        const callId = yield* placed(number)
        yield* placed(number)
        assert.strictEqual(
          yield* answerTo(number),
          "QuotaExceeded: The number has reached its limit of 2 concurrent outbound calls. Wait until one ends. (10 s)"
        )
        yield* ended(callId, 30)
        assert.strictEqual(yield* answerTo(number), "a challenge")
      }),
    under({ atOnce: { perNumber: 2, perTenant: 9 } })
  )

  scenario(
    "is refused before payment while its tenant has the maximum of concurrent calls",
    () =>
      Effect.gen(function* () {
        const number = yield* adasNumber
        yield* placed(number)
        assert.include(
          yield* answerTo(number),
          "QuotaExceeded: Your numbers have reached their limit of 1 concurrent outbound calls"
        )
      }),
    under({ atOnce: { perNumber: 9, perTenant: 1 } })
  )

  scenario(
    "is refused after the hourly maximum of its tenant, until the first of those calls is an hour old",
    () =>
      Effect.gen(function* () {
        const number = yield* adasNumber
        yield* placed(number, "+12125550151")
        yield* TestClock.adjust("20 minutes")
        yield* placed(number, "+12125550152")
        assert.strictEqual(
          yield* answerTo(number),
          "QuotaExceeded: You have placed 2 calls within an hour. Place the next one after 1970-01-01T01:00:00.000Z. (2400 s)"
        )
        yield* TestClock.adjust("39 minutes")
        assert.include(yield* answerTo(number), "within an hour")
        yield* TestClock.adjust("61 seconds")
        assert.strictEqual(yield* answerTo(number), "a challenge")
      }),
    perHour({ calls: 2 })
  )

  scenario(
    "is refused to a number that was called too often, answered or not, and to no other number",
    () =>
      Effect.gen(function* () {
        const number = yield* adasNumber
        yield* ended(yield* placed(number), null)
        yield* ended(yield* placed(number), 30)
        assert.include(yield* answerTo(number), `QuotaExceeded: You have called ${PERSON} 2 times within an hour`)
        assert.strictEqual(yield* answerTo(number, "+12125550151"), "a challenge")
      }),
    perHour({ toOneNumber: 2 })
  )

  scenario(
    "is refused after too many calls that ended shortly after their answer; unanswered calls do not count",
    () =>
      Effect.gen(function* () {
        const number = yield* adasNumber
        yield* ended(yield* placed(number, "+12125550151"), null)
        yield* ended(yield* placed(number, "+12125550152"), 7)
        yield* ended(yield* placed(number, "+12125550153"), 6)
        assert.strictEqual(yield* answerTo(number), "a challenge")
        yield* ended(yield* placed(number, "+12125550154"), 1)
        assert.include(yield* answerTo(number), "QuotaExceeded: 2 of your calls within an hour ended within 6 s")
      }),
    perHour({ short: 2 })
  )

  scenario(
    "that exceeds the limit among several paid concurrently is not made, and its payment is refunded",
    (host) =>
      Effect.gen(function* () {
        const number = yield* adasNumber
        const attempts = yield* Effect.forEach([1, 2, 3, 4], () =>
          Effect.flatMap(phoneRequest(callTo(number, PERSON)), ({ signed }) => signed)
        )
        const outcomes = yield* Effect.forEach(attempts, (attempt) => Effect.result(attempt), {
          concurrency: "unbounded"
        })
        assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, 2)
        assert.lengthOf(host.carrier.calls, 2)
        yield* Effect.forkScoped(OperationCompletion.run)
        yield* TestClock.adjust("2 minutes")
        const { fulfilled, received, refunded = 0n } = yield* balances
        assert.strictEqual((received ?? 0n) + (fulfilled ?? 0n) + refunded, 0n)
        assert.isAtLeast(Number(fulfilled), 5_600_000)
        assert.strictEqual(fulfilled, 5_600_000n)
      }),
    Layer.merge(perHour({ toOneNumber: 2 }), placedTogether(4))
  )
})
