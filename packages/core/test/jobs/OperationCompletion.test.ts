import {
  mailboxDeletion,
  OperationCompletion,
  OperationStore,
  OperationWorker,
  type Tenant,
  Timestamp
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as TestHost from "../support/TestHost.ts"
import {
  ADA,
  adasMailbox,
  balances,
  BOB,
  challengeOf,
  create,
  eventsOf,
  failureOf,
  pay,
  order,
  scenario,
  sendPaid,
  underClock
} from "../support/Purchase.ts"

/** Runs the job in the background of the test. */
const jobRuns = Effect.forkScoped(OperationCompletion.run)

const stateOf = Effect.fnUntraced(function* (operationId: string) {
  return Option.getOrThrow(yield* (yield* OperationStore).find(operationId))
})

const deleteMailbox = Effect.fnUntraced(function* (tenant: Tenant, mailboxId: string) {
  const attempt = (signature: string | null) =>
    order(mailboxDeletion, { tenant, signature, key: "delete" }, { mailboxId })
  const error = yield* failureOf(attempt(null))
  return yield* attempt(pay(error._tag === "PaymentRequired" ? error.challenge : "", ADA, "09"))
})

/** Returns the id of an operation whose request has failed to get an answer so far. */
const operationOf = (error: { readonly _tag: string }): string =>
  "operationId" in error && typeof error.operationId === "string" ? error.operationId : ""

describe("OperationCompletion", () => {
  scenario("completes an operation that its client abandoned, with the same authorization", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before", "fail before")
      const signature = pay(yield* challengeOf(), ADA, "01")
      const error = yield* failureOf(underClock(create({ localPart: "ada" }, { signature })))
      yield* jobRuns
      yield* TestClock.adjust("60 seconds")
      const operation = yield* stateOf(operationOf(error))
      assert.strictEqual(operation.state, "fulfilled")
      assert.isNull(operation.dueAt)
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
      assert.strictEqual(host.payments.settleCalls(), 3)
      const answer = yield* create({ localPart: "ada" }, { signature })
      assert.match(Redacted.value(answer.body), /"accessToken":"at_v1_\w+"/)
    })
  )

  scenario("sends mail in the background once the relay is available again, and only once", (host) =>
    Effect.gen(function* () {
      host.sendScript.push(...Array.from({ length: 8 }, () => "Temporary" as const))
      const { attempt, challenge } = yield* sendPaid
      const error = yield* failureOf(attempt(pay(challenge, ADA, "02")))
      yield* jobRuns
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* stateOf(operationOf(error))).state, "fulfilled")
      assert.lengthOf(host.sent, 1)
      assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 270_000n })
    })
  )

  scenario(
    "measures its retry time by the store's clock, not by its own",
    (host) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("3 days")
        host.sendScript.push("Temporary")
        const { attempt, challenge } = yield* sendPaid
        const operationId = operationOf(yield* failureOf(attempt(pay(challenge, ADA, "02"))))
        assert.strictEqual((yield* stateOf(operationId)).state, "fulfilling")
        yield* jobRuns
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual((yield* stateOf(operationId)).state, "fulfilled")
      }),
    Layer.empty,
    () => TestHost.make(undefined, 2 * Timestamp.DAY)
  )

  it.effect("refunds under the key of the challenge, even if another key is active when the refund becomes due", () =>
    Effect.gen(function* () {
      const nonceWithActiveKey = (activeKeyId: number) => {
        const host = TestHost.make()
        return Effect.gen(function* () {
          const { attempt, challenge } = yield* sendPaid
          host.sendScript.push("Rejected")
          host.keyring.activeKeyId = activeKeyId
          yield* failureOf(attempt(pay(challenge, ADA, "02")))
          const [debt] = yield* (yield* OperationStore)
            .listPaid(null, 10)
            .pipe(Effect.map((paid) => paid.filter(({ state }) => state === "refund_due")))
          return debt?.refundNonce
        }).pipe(Effect.provide(host.layer))
      }
      const nonce = yield* nonceWithActiveKey(1)
      assert.match(nonce ?? "", /^0x[0-9a-f]{64}$/)
      assert.strictEqual(yield* nonceWithActiveKey(2), nonce)
    })
  )

  scenario("refunds the payment when the relay stays unavailable for a day, and not before", (host) =>
    Effect.gen(function* () {
      host.sendScript.push(...Array.from({ length: 1_000 }, () => "Temporary" as const))
      const { attempt, challenge, tenant } = yield* sendPaid
      const signature = pay(challenge, ADA, "02")
      const operationId = operationOf(yield* failureOf(attempt(signature)))
      // No worker polls it for most of the day.
      yield* TestClock.adjust("1435 minutes")
      yield* jobRuns
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual((yield* stateOf(operationId)).state, "fulfilling")
      yield* TestClock.adjust("2 minutes")
      const operation = yield* stateOf(operationId)
      assert.deepInclude(operation, { state: "refunded" })
      assert.strictEqual(operation.failure?.kind, "late")
      assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 20_000n }])
      assert.deepInclude(yield* failureOf(attempt(signature)), { _tag: "OperationRejected", paymentState: "refunded" })
      const [, failed] = yield* eventsOf(tenant)
      assert.deepInclude(failed, { type: "payment.failed" })
      assert.deepInclude(failed!.payload, { operationId, paymentState: "refund_due", baseUnits: "20000" })
    })
  )

  scenario("refunds the payment when the service keeps failing with a defect for a day, and not before", (host) =>
    Effect.gen(function* () {
      host.sendScript.push(...Array.from({ length: 1_000 }, () => "broken" as const))
      const { attempt, challenge } = yield* sendPaid
      const broken = yield* Effect.exit(attempt(pay(challenge, ADA, "02")))
      assert.isTrue(Exit.hasDies(broken))
      yield* TestClock.adjust("1435 minutes")
      yield* jobRuns
      yield* TestClock.adjust("4 minutes")
      assert.lengthOf([...host.payments.refunds], 0)
      yield* TestClock.adjust("2 minutes")
      const error = yield* failureOf(attempt(pay(challenge, ADA, "02")))
      assert.deepInclude(error, { _tag: "OperationRejected", paymentState: "refunded" })
      assert.deepInclude(yield* stateOf(operationOf(error)), { state: "refunded" })
      assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 20_000n }])
    })
  )

  scenario("refunds a payment that the provider rejected, once, even if answers are lost", (host) =>
    Effect.gen(function* () {
      host.sendScript.push("Rejected")
      host.payments.refunding.mode = "loses the answer"
      const { attempt, challenge } = yield* sendPaid
      const operationId = operationOf(yield* failureOf(attempt(pay(challenge, ADA, "02"))))
      yield* jobRuns
      yield* TestClock.adjust("60 seconds")
      const operation = yield* stateOf(operationId)
      assert.strictEqual(operation.state, "refunded")
      assert.strictEqual(operation.refundTransaction, `0xback${operation.refundNonce?.slice(2)}`)
      assert.lengthOf([...host.payments.refunds], 1)
      assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 250_000n, refunded: 20_000n })
    })
  )

  scenario("waits with the refund until the payment is final", (host) =>
    Effect.gen(function* () {
      host.sendScript.push("Rejected")
      host.payments.refunding.mode = "waits"
      const { attempt, challenge } = yield* sendPaid
      const operationId = operationOf(yield* failureOf(attempt(pay(challenge, ADA, "02"))))
      yield* jobRuns
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* stateOf(operationId)).state, "refund_due")
      host.payments.refunding.mode = "pays"
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* stateOf(operationId)).state, "refunded")
    })
  )

  scenario("keeps a refund due while no wallet can pay it, and pays it once one can", (host) =>
    Effect.gen(function* () {
      host.sendScript.push("Rejected")
      host.payments.refunding.mode = "no wallet"
      const { attempt, challenge } = yield* sendPaid
      const signature = pay(challenge, ADA, "02")
      const operationId = operationOf(yield* failureOf(attempt(signature)))
      yield* jobRuns
      yield* TestClock.adjust("30 minutes")
      assert.deepInclude(yield* failureOf(attempt(signature)), { paymentState: "refund_due" })
      assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 250_000n, refundDue: 20_000n })
      host.payments.refunding.mode = "pays"
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* stateOf(operationId)).state, "refunded")
    })
  )

  scenario("polls a refused payment until it can't be used, then releases its name", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("refuse")
      const challenge = yield* challengeOf()
      const signature = pay(challenge, ADA, "01")
      yield* failureOf(create({ localPart: "ada" }, { signature }))
      yield* jobRuns
      yield* TestClock.adjust("1 minute")
      const bobs = create({ localPart: "ada" }, { signature: pay(challenge, BOB, "02"), key: "key-2" })
      assert.strictEqual((yield* failureOf(bobs))._tag, "Conflict")
      host.payments.end(signature, "expired")
      yield* TestClock.adjust("20 seconds")
      yield* bobs
      assert.deepStrictEqual([...host.payments.transfers], [[BOB, 1]])
    })
  )

  scenario("does not accept a refusal while an earlier submission may be pending", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before", ...Array.from({ length: 50 }, () => "refuse" as const))
      const signature = pay(yield* challengeOf(), ADA, "01")
      yield* failureOf(underClock(create({ localPart: "ada" }, { signature })))
      yield* jobRuns
      const error = yield* failureOf(underClock(create({ localPart: "ada" }, { signature })))
      assert.deepInclude(error, { _tag: "PaymentPending", paymentState: "unknown" })
      assert.isAbove(host.payments.settleCalls(), 2)
      host.payments.useNonce(signature)
      yield* TestClock.adjust("30 seconds")
      assert.isTrue((yield* create({ localPart: "ada" }, { signature })).created)
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("refunds a payment that settled after the facilitator had refused it", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("refuse")
      const challenge = yield* challengeOf()
      const signature = pay(challenge, ADA, "01")
      yield* failureOf(create({ localPart: "ada" }, { signature }))
      yield* jobRuns
      yield* TestClock.adjust("10 seconds")
      host.payments.useNonce(signature)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 250_000n }])
      assert.deepStrictEqual(yield* balances, { received: -250_000n, refunded: 250_000n })
      const error = yield* failureOf(create({ localPart: "ada" }, { signature }))
      assert.deepInclude(error, { _tag: "OperationRejected", paymentState: "refunded" })
      yield* create({ localPart: "ada" }, { signature: pay(challenge, BOB, "02"), key: "key-2" })
    })
  )

  scenario("refunds the payment when the paid resource is gone before the work starts", (host) =>
    Effect.gen(function* () {
      host.sendScript.push("Temporary")
      const { attempt, challenge, mailboxId, tenant } = yield* sendPaid
      // The payment settles, and its mailbox is deleted before the mail is sent.
      host.payments.script.push("fail before")
      const signature = pay(challenge, ADA, "02")
      const operationId = operationOf(yield* failureOf(underClock(attempt(signature))))
      yield* deleteMailbox(tenant, mailboxId)
      yield* jobRuns
      yield* TestClock.adjust("1 minute")
      const operation = yield* stateOf(operationId)
      assert.deepInclude(operation, { state: "refunded" })
      assert.strictEqual(operation.failure?.kind, "gone")
      assert.lengthOf(host.sent, 0)
    })
  )

  scenario("continues when the chain is reachable again", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before")
      const signature = pay(yield* challengeOf(), ADA, "01")
      const operationId = operationOf(yield* failureOf(underClock(create({ localPart: "ada" }, { signature }))))
      host.payments.outage.chain = true
      yield* jobRuns
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* stateOf(operationId)).state, "settling")
      host.payments.outage.chain = false
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* stateOf(operationId)).state, "fulfilled")
    })
  )
})

describe("OperationCompletion with operations that never end", () => {
  /** Returns how many of three due operations are taken over while each of them hangs. */
  const takenUp = Effect.fnUntraced(function* (run: typeof OperationCompletion.run) {
    for (const nonce of ["01", "02", "03"]) {
      const signature = pay(yield* challengeOf(), ADA, nonce)
      yield* failureOf(underClock(create({ localPart: `ada${nonce}` }, { signature, key: nonce })))
    }
    const worker = yield* OperationWorker
    const hanging = new Set<string>()
    const advance: typeof worker.advance = ({ operationId }) =>
      Effect.andThen(
        Effect.sync(() => hanging.add(operationId)),
        Effect.never
      )
    yield* Effect.forkScoped(Effect.provideService(run, OperationWorker, OperationWorker.of({ ...worker, advance })))
    yield* TestClock.adjust("60 seconds")
    return hanging.size
  })

  scenario("takes over no more operations than the host's limit", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before", "fail before", "fail before")
      const limited = Effect.provideService(OperationCompletion.run, OperationCompletion.Concurrency, 2)
      assert.strictEqual(yield* takenUp(limited), 2)
    })
  )

  scenario("takes over every operation while below the limit", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before", "fail before", "fail before")
      // Each operation is taken over again when its lease expires, and counts again.
      const roomy = Effect.provideService(OperationCompletion.run, OperationCompletion.Concurrency, 100)
      assert.strictEqual(yield* takenUp(roomy), 3)
    })
  )
})

describe("OperationCompletion on a failing store", () => {
  scenario("keeps polling, even if the store interrupts one of its own fibers", (host) =>
    Effect.gen(function* () {
      host.payments.script.push("fail before")
      const signature = pay(yield* challengeOf(), ADA, "01")
      const operationId = operationOf(yield* failureOf(underClock(create({ localPart: "ada" }, { signature }))))
      const store = yield* OperationStore
      let breaks = 3
      const takeDue: typeof store.takeDue = (limit, millis) =>
        Effect.suspend(() => (breaks-- > 0 ? Effect.interrupt : store.takeDue(limit, millis)))
      yield* Effect.forkScoped(
        Effect.provideService(OperationCompletion.run, OperationStore, OperationStore.of({ ...store, takeDue }))
      )
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual((yield* stateOf(operationId)).state, "fulfilled")
    })
  )
})

describe("events of payments", () => {
  scenario("include one payment.completed for a payment that bought something", () =>
    Effect.gen(function* () {
      const { answer, signature, tenant } = yield* adasMailbox
      yield* create({ localPart: "ada" }, { signature })
      const events = yield* eventsOf(tenant)
      assert.lengthOf(events, 1)
      assert.strictEqual(events[0]!.type, "payment.completed")
      assert.deepInclude(events[0]!.payload, {
        operationId: answer.operationId,
        serviceId: "email.mailbox.create",
        price: { amount: "0.25", asset: "USDT" },
        baseUnits: "250000",
        payer: ADA,
        paymentState: "settled",
        transaction: "0x01"
      })
    })
  )

  scenario("include payment.failed for a payment that was not made", (host) =>
    Effect.gen(function* () {
      const { attempt, challenge, tenant } = yield* sendPaid
      host.payments.script.push("use otherwise")
      yield* failureOf(attempt(pay(challenge, ADA, "03")))
      const failed = (yield* eventsOf(tenant)).at(-1)
      assert.strictEqual(failed?.type, "payment.failed")
      assert.deepInclude(failed?.payload, { paymentState: "none", transaction: null })
      assert.deepInclude(failed?.payload["reason"], { kind: "used_otherwise" })
    })
  )
})
