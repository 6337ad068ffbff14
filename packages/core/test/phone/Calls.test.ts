import {
  CallAdmission,
  CallPolicy,
  CallReports,
  Calls,
  CallStore,
  CallWatch,
  DEFAULT_CALL_POLICY,
  Numbers,
  OperationCompletion,
  Timestamp
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, bought, PERSON, phoneRequest, runJob } from "../support/PhonePurchase.ts"
import { eventsOf, failureOf, scenario, underClock } from "../support/Purchase.ts"

type Number_ = Effect.Success<typeof adasNumber>
type PhoneHost = Parameters<Parameters<typeof scenario>[1]>[0]

const oneMinute = ({ phoneNumberId, tenant }: Number_, input: object = {}) =>
  ({ serviceId: "phone.call.outbound.1m", tenant, input: { phoneNumberId, toNumber: PERSON, ...input } }) as const

const extension = ({ tenant }: Number_, callId: string) =>
  ({ serviceId: "phone.call.extend.1m", tenant, input: { callId } }) as const

/** Places a call that Ada pays for, and returns its id. */
const placed = Effect.fnUntraced(function* (number: Number_) {
  const { call } = (yield* bought(oneMinute(number))) as { readonly call: { readonly callId: string } }
  return call.callId
})

const callOf = Effect.fnUntraced(function* (callId: string) {
  return Option.getOrThrow(yield* (yield* CallStore).get(callId))
})

const answered = Effect.fnUntraced(function* (callId: string) {
  const admission = yield* (yield* CallAdmission).answered(callId)
  assert.strictEqual(admission._tag, "Connect")
})

const watching = Effect.forkScoped(CallWatch.run)

describe("placing a call", () => {
  scenario("dials once, from the tenant's number, with the purchased limit", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const callId = yield* placed(number)
      assert.strictEqual(host.carrier.calls.length, 1)
      assert.deepInclude(host.carrier.calls[0], { callId, from: number.number, to: PERSON, limitSeconds: 60 })
      assert.deepInclude(yield* callOf(callId), { state: "queued", authorizedSeconds: 60, direction: "outbound" })
    })
  )

  for (const [toNumber, why] of [
    ["+1911", "emergency"],
    ["+19005550100", "premium"],
    ["+15550000000", "not a callable number"],
    ["+14155550100", "itself"]
  ] as const) {
    scenario(`refuses ${toNumber} before payment`, () =>
      Effect.gen(function* () {
        const { unpaid } = yield* phoneRequest(oneMinute(yield* adasNumber, { toNumber }))
        const error = yield* failureOf(unpaid)
        assert.strictEqual(error._tag, "InvalidRequest")
        assert.include(error.message, why)
      })
    )
  }

  for (const [toNumber, why] of [
    ["+24762889", "is in AC. This service calls US, CA only"],
    ["+18765230199", "is in JM. This service calls US, CA only"],
    ["+881612345678", "is not a number of any country. This service calls US, CA only"]
  ] as const) {
    scenario(`refuses ${toNumber} before payment: it is not in an allowed country`, () =>
      Effect.gen(function* () {
        const { unpaid } = yield* phoneRequest(oneMinute(yield* adasNumber, { toNumber }))
        const error = yield* failureOf(unpaid)
        assert.deepInclude(error, { _tag: "InvalidRequest", issues: [{ path: "toNumber", message: why }] })
      })
    )
  }

  const isOffered = Effect.fnUntraced(function* (toNumber: string) {
    const { unpaid } = yield* phoneRequest(oneMinute(yield* adasNumber, { toNumber }))
    assert.strictEqual((yield* failureOf(unpaid))._tag, "PaymentRequired")
  })

  scenario("calls Canada by default", () => isOffered("+16045550123"))

  scenario(
    "calls the countries that the operator lists",
    () => isOffered("+442079460958"),
    Layer.succeed(CallPolicy, { ...DEFAULT_CALL_POLICY, countries: new Set(["GB"]) })
  )

  scenario("finds a call after the carrier's answer was lost, and does not dial again", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      host.carrier.script.place = ["done, answer lost"]
      const callId = yield* placed(number)
      assert.lengthOf(host.carrier.calls, 1)
      assert.strictEqual((yield* callOf(callId)).providerCallId, host.carrier.calls[0]?.providerCallId)
    })
  )

  scenario("never dials again after an unknown outcome, and refunds once the carrier lists no call", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      host.carrier.script.place = ["Unknown"]
      const { signed } = yield* phoneRequest(oneMinute(number))
      const attempt = yield* signed
      yield* failureOf(underClock(attempt))
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* TestClock.adjust("2 minutes")
      assert.deepInclude(yield* failureOf(attempt), { _tag: "OperationRejected" })
      assert.strictEqual(host.carrier.log.filter((line) => line.startsWith("place")).length, 1)
      assert.lengthOf(host.carrier.calls, 0)
    })
  )

  scenario("refunds immediately after a temporary failure of the carrier, and does not dial later", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      host.carrier.script.place = ["Temporary"]
      const { signed } = yield* phoneRequest(oneMinute(number))
      assert.deepInclude(yield* failureOf(yield* signed), { _tag: "OperationRejected" })
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(host.carrier.log.filter((line) => line.startsWith("place")).length, 1)
    })
  )

  /** A payment with an unknown outcome whose request has ended. */
  const unknownPayment = Effect.fnUntraced(function* (host: PhoneHost, number: Number_) {
    host.payments.script.push(...Array.from({ length: 100 }, () => "fail before" as const))
    const { signed } = yield* phoneRequest(oneMinute(number))
    const attempt = yield* signed
    yield* failureOf(underClock(attempt))
    return attempt
  })

  scenario("does not dial after the request has ended, and refunds", (host) =>
    Effect.gen(function* () {
      const attempt = yield* unknownPayment(host, yield* adasNumber)
      host.payments.script.length = 0
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* TestClock.adjust("45 seconds")
      assert.lengthOf(host.carrier.calls, 0)
      assert.deepInclude(yield* failureOf(attempt), { _tag: "OperationRejected" })
    })
  )

  scenario("dials for a client that retries, although the job has run meanwhile", (host) =>
    Effect.gen(function* () {
      const attempt = yield* unknownPayment(host, yield* adasNumber)
      host.payments.script.length = 0
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* TestClock.adjust("5 seconds")
      assert.lengthOf(host.carrier.calls, 0)
      yield* attempt
      assert.lengthOf(host.carrier.calls, 1)
    })
  )

  for (const [waited, dialled, why] of [
    ["20 seconds", 1, "dials for a client that retries within a minute of its claim"],
    ["65 seconds", 0, "does not dial for a client that retries later, and refunds"]
  ] as const) {
    scenario(why, (host) =>
      Effect.gen(function* () {
        const attempt = yield* unknownPayment(host, yield* adasNumber)
        yield* TestClock.adjust(waited)
        host.payments.script.length = 0
        const again = yield* Effect.result(attempt)
        assert.lengthOf(host.carrier.calls, dialled)
        assert.strictEqual(
          again._tag === "Failure" ? again.failure._tag : "paid",
          dialled ? "paid" : "OperationRejected"
        )
      })
    )
  }

  scenario("refuses a call that would outlast the number, and any call after the number's end", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* TestClock.adjust(30 * Timestamp.DAY - 59 * Timestamp.SECOND)
      const late = yield* phoneRequest(oneMinute(number))
      assert.strictEqual((yield* failureOf(late.unpaid))._tag, "NumberExpiring")
      yield* TestClock.adjust("59 seconds")
      const over = yield* phoneRequest(oneMinute(number))
      assert.strictEqual((yield* failureOf(over.unpaid))._tag, "NumberReleased")
    })
  )

  scenario("refuses to extend a call beyond its number's end, and a call of a number that has ended", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      yield* TestClock.adjust(30 * Timestamp.DAY - 70 * Timestamp.SECOND)
      const callId = yield* placed(number)
      yield* TestClock.adjust("40 seconds")
      yield* answered(callId)
      const early = yield* phoneRequest(extension(number, callId))
      assert.strictEqual((yield* failureOf(early.unpaid))._tag, "NumberExpiring")
      yield* TestClock.adjust("40 seconds")
      const late = yield* phoneRequest(extension(number, callId))
      assert.strictEqual((yield* failureOf(late.unpaid))._tag, "NumberReleased")
    })
  )
})

describe("an answered call", () => {
  scenario("ends at its limit, although no report arrives", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const callId = yield* placed(number)
      yield* watching
      yield* TestClock.adjust("10 seconds")
      yield* answered(callId)
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual((yield* callOf(callId)).state, "in_progress")
      yield* TestClock.adjust("3 seconds")
      const call = yield* callOf(callId)
      assert.deepInclude(call, { state: "ended", endReason: "time_limit", connectedSeconds: 60 })
      assert.isAtMost(call.endedAt! - call.answeredAt!, 63_000)
      assert.include(host.carrier.log, `hangUp ${call.providerCallId}`)
      const types = (yield* eventsOf(number.tenant)).map(({ type }) => type)
      assert.deepStrictEqual(types.slice(-2), ["phone.call.started", "phone.call.ended"])
    })
  )

  scenario("is extended by exactly a minute by each of two concurrent extensions", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const callId = yield* placed(number)
      yield* answered(callId)
      const one = yield* phoneRequest(extension(number, callId))
      const other = yield* phoneRequest(extension(number, callId))
      yield* Effect.all([yield* one.signed, yield* other.signed], { concurrency: 2 })
      const call = yield* callOf(callId)
      assert.strictEqual(call.authorizedSeconds, 180)
      assert.deepStrictEqual(host.carrier.limits.at(-1), [call.providerCallId ?? "", 180])
    })
  )

  scenario("continues when it is extended just as its limit is reached", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const callId = yield* placed(number)
      yield* answered(callId)
      yield* TestClock.adjust("60 seconds")
      const store = yield* CallStore
      const taken = [...(yield* store.takeWatched(1, 2_000))]
      assert.lengthOf(taken, 1)
      yield* bought(extension(number, callId))
      const takeWatched = () => Effect.sync(() => taken.splice(0))
      yield* Effect.forkScoped(Effect.provideService(CallWatch.run, CallStore, CallStore.of({ ...store, takeWatched })))
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* callOf(callId), { state: "in_progress", authorizedSeconds: 120 })
    })
  )

  scenario("is not extended after the request has ended, unless the extension was granted before", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const callId = yield* placed(number)
      yield* answered(callId)
      const begun = yield* phoneRequest(extension(number, callId))
      const granted = yield* begun.signed
      const never = yield* phoneRequest(extension(number, callId))
      const late = yield* never.signed
      host.carrier.script.changeLimit = ["Temporary"]
      yield* failureOf(granted)
      host.payments.script.push("fail before", "fail before", "fail before")
      yield* failureOf(underClock(late))
      host.payments.script.length = 0
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* TestClock.adjust("45 seconds")
      yield* granted
      assert.deepInclude(yield* failureOf(late), { _tag: "OperationRejected" })
      assert.strictEqual((yield* callOf(callId)).authorizedSeconds, 120)
    })
  )

  scenario("revokes and refunds its extension if it has already ended", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const callId = yield* placed(number)
      yield* answered(callId)
      const { signed } = yield* phoneRequest(extension(number, callId))
      const attempt = yield* signed
      host.carrier.script.changeLimit = ["Rejected"]
      assert.deepInclude(yield* failureOf(attempt), { _tag: "OperationRejected" })
      assert.strictEqual((yield* callOf(callId)).authorizedSeconds, 60)
    })
  )

  scenario("can't be extended before its answer or after its end", () =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const callId = yield* placed(number)
      const early = yield* phoneRequest(extension(number, callId))
      assert.strictEqual((yield* failureOf(early.unpaid))._tag, "Conflict")
      yield* answered(callId)
      const at = yield* Timestamp.now
      yield* (yield* CallReports).apply(callId, { _tag: "Ended", at, ending: "completed", seconds: 7 })
      const late = yield* phoneRequest(extension(number, callId))
      assert.strictEqual((yield* failureOf(late.unpaid))._tag, "Conflict")
      assert.deepInclude(yield* (yield* Calls).get(number.tenant, callId), { endReason: "completed" })
    })
  )
})

describe("releasing a number", () => {
  scenario("ends its calls first, and appends an event", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      const callId = yield* placed(number)
      yield* answered(callId)
      const released = yield* (yield* Numbers).release(number.tenant, number.phoneNumberId)
      assert.strictEqual(released.state, "released")
      assert.lengthOf(host.carrier.owned, 0)
      const lines = host.carrier.log.filter((line) => /^(hangUp|release) /.test(line))
      assert.match(lines.join(), /^hangUp .*,release /)
      assert.strictEqual((yield* eventsOf(number.tenant)).at(-1)?.type, "phone.number.released")
      const again = yield* failureOf((yield* Numbers).release(number.tenant, number.phoneNumberId))
      assert.strictEqual(again._tag, "NumberReleased")
    })
  )

  scenario("reports success only after the carrier has confirmed, and can be repeated", (host) =>
    Effect.gen(function* () {
      const number = yield* adasNumber
      host.carrier.script.release = ["Temporary"]
      const release = Effect.flatMap(Numbers, (numbers) => numbers.release(number.tenant, number.phoneNumberId))
      assert.strictEqual((yield* failureOf(release))._tag, "ProviderUnavailable")
      const call = yield* phoneRequest(oneMinute(number))
      assert.strictEqual((yield* failureOf(call.unpaid))._tag, "NumberReleased")
      assert.strictEqual((yield* release).state, "released")
    })
  )
})

describe("an ended call", () => {
  /** The calls that a job deleted, or whose turns it deleted: when the call ended, after its retention, and later. */
  const deletedBy = Effect.fnUntraced(function* (job: string, retention: `${number} days`) {
    const callId = yield* placed(yield* adasNumber)
    yield* answered(callId)
    yield* (yield* CallStore).addTurn(callId, { role: "caller", text: "Hi", at: yield* Timestamp.now })
    yield* TestClock.adjust(retention)
    const whileLive = yield* runJob(job)
    const at = yield* Timestamp.now
    yield* (yield* CallReports).apply(callId, { _tag: "Ended", at, ending: "completed", seconds: 7 })
    const ended = yield* runJob(job)
    yield* TestClock.adjust(retention)
    const deleted = [whileLive, ended, yield* runJob(job), yield* runJob(job)]
    const { get, turns } = yield* CallStore
    return { deleted, isKept: Option.isSome(yield* get(callId)), turns: (yield* turns(callId)).length }
  })
  const policy = (parts: Partial<CallPolicy>) => Layer.succeed(CallPolicy, { ...DEFAULT_CALL_POLICY, ...parts })

  scenario("is kept permanently by default, with its turns", () =>
    Effect.gen(function* () {
      const kept = { deleted: [0, 0, 0, 0], isKept: true, turns: 1 }
      assert.deepStrictEqual(yield* deletedBy("call-retention", "3650 days"), kept)
      assert.strictEqual(yield* runJob("transcript-retention"), 0)
    })
  )

  scenario(
    "is deleted with its turns after the time that the operator sets",
    () =>
      Effect.gen(function* () {
        const gone = { deleted: [0, 0, 1, 0], isKept: false, turns: 0 }
        assert.deepStrictEqual(yield* deletedBy("call-retention", "2 days"), gone)
      }),
    policy({ retention: 2 * Timestamp.DAY })
  )

  scenario(
    "loses its turns earlier if the operator says so",
    () =>
      Effect.gen(function* () {
        const silent = { deleted: [0, 0, 1, 0], isKept: true, turns: 0 }
        assert.deepStrictEqual(yield* deletedBy("transcript-retention", "2 days"), silent)
      }),
    policy({ retention: 9 * Timestamp.DAY, transcriptRetention: 2 * Timestamp.DAY })
  )
})
