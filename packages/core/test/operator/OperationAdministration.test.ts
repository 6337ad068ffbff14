import {
  AS_CLAIMED,
  OperationAdministration,
  type OperationReport,
  OperationStore,
  PaymentStatuses,
  ProviderError,
  WORK_LEASE
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import {
  ADA,
  adasMailbox,
  type Host,
  failureOf,
  pay,
  returnDebts,
  scenario,
  sendPaid,
  underClock
} from "../support/Purchase.ts"

const UNKNOWN = "01900000-0000-7000-8000-00000000dead"

/** Ada's fulfilled mailbox and a message of hers that the relay rejected; no wallet pays the refund. */
const owedRefund = Effect.fnUntraced(function* (host: Host) {
  const { attempt, challenge, tenant } = yield* sendPaid
  host.sendScript.push("Rejected")
  host.payments.refunding.mode = "no wallet"
  yield* failureOf(attempt(pay(challenge, ADA, "02")))
  yield* returnDebts
  const { list } = yield* OperationAdministration
  const [owed, fulfilled] = (yield* list({ payer: ADA })).items
  return { tenant, owed: owed!, fulfilled: fulfilled! }
})

/** Claims an operation like another one, as a server does that is killed right after. */
const abandoned = Effect.fnUntraced(function* (like: OperationReport) {
  const store = yield* OperationStore
  const { proof, ...operation } = Option.getOrThrow(yield* store.find(like.operationId))
  const operationId = "01900000-0000-7000-8000-0000000000a1"
  const claimed = { ...operation, ...AS_CLAIMED, operationId, idempotencyKey: "abandoned" }
  assert.isTrue(yield* store.claim({ ...claimed, proof: { ...proof, nonce: "0a" } }, WORK_LEASE))
  return operationId
})

describe("OperationAdministration", () => {
  scenario("reports the lease of a worker, and that no worker took over after it expired", (host) =>
    Effect.gen(function* () {
      const { find } = yield* OperationAdministration
      const { fulfilled } = yield* owedRefund(host)
      const operationId = yield* abandoned(fulfilled)
      const { nextAttempt, paymentState, state } = yield* find(operationId)
      assert.deepStrictEqual({ paymentState, state }, { paymentState: "pending", state: "claimed" })
      assert.strictEqual(nextAttempt?.kind, "leased")
      yield* TestClock.adjust(WORK_LEASE)
      assert.deepStrictEqual((yield* find(operationId)).nextAttempt, { kind: "due", at: nextAttempt?.at })
    })
  )

  scenario("reports an operation with the fields of its payer's status, and no secret", (host) =>
    Effect.gen(function* () {
      const { find } = yield* OperationAdministration
      const { fulfilled, owed, tenant } = yield* owedRefund(host)
      const {
        failedAttempt: _,
        nextAttempt,
        payer,
        state,
        tenantId,
        timeline,
        ...payment
      } = yield* find(owed.operationId)
      assert.deepStrictEqual({ payer, state, tenantId }, { payer: ADA, state: "refund_due", tenantId: tenant.tenantId })
      assert.strictEqual(nextAttempt?.kind, "scheduled")
      assert.strictEqual(timeline.at(-1)?.event, "refund_due")
      const statuses = yield* PaymentStatuses
      assert.deepInclude(yield* statuses.ofOperation(tenant, owed.operationId), payment)
      assert.deepInclude(payment, { paymentState: "refund_due", baseUnits: "20000", refund: null })
      assert.strictEqual(payment.reason?.kind, "rejected")

      const text = JSON.stringify([owed, fulfilled, yield* find(fulfilled.operationId)])
      const store = yield* OperationStore
      for (const { operationId } of [owed, fulfilled]) {
        const { answer, input, proof, terms } = Option.getOrThrow(yield* store.find(operationId))
        const secrets = [proof.digest, String(terms.extra["binding"]), input, answer?.body ?? input]
        for (const secret of secrets) assert.notInclude(text, secret)
      }
    })
  )

  scenario("reports why an operation does not go on, since when and how often, without persons", (host) =>
    Effect.gen(function* () {
      const { find, list } = yield* OperationAdministration
      const { attempt, challenge } = yield* sendPaid
      const message = `451 <friend@example.com>\r\n\u0000greylisted; call +15550100001. ${"x".repeat(254)}${"📞".repeat(99)}`
      const failure = new ProviderError({ provider: "relay", reason: "Temporary", message })
      host.sendScript.push(...Array.from({ length: 20 }, () => failure))
      yield* failureOf(attempt(pay(challenge, ADA, "02")))
      const [first] = (yield* list({ state: "fulfilling" })).items
      const { failedAttempt, operationId } = yield* find(first!.operationId)
      assert.deepStrictEqual(first?.failedAttempt, failedAttempt)
      assert.strictEqual(failedAttempt?.attempts, 1)
      assert.match(failedAttempt?.reason ?? "", /^451 <…@…> greylisted; call \+…\. x{254}📞{7}\uFFFD$/u)
      assert.isAtMost(failedAttempt!.reason.length, 300)
      yield* returnDebts
      const later = yield* find(operationId)
      assert.isAbove(later.failedAttempt!.attempts, 1)
      assert.isTrue(failedAttempt!.at < later.failedAttempt!.at && later.failedAttempt!.at < later.nextAttempt!.at)
      host.sendScript.length = 0
      yield* TestClock.adjust("20 seconds")
      yield* returnDebts
      assert.deepInclude(yield* find(operationId), { state: "fulfilled", failedAttempt: null })
    })
  )

  scenario("reports why a refund waits, and nothing of the state before", (host) =>
    Effect.gen(function* () {
      const { find } = yield* OperationAdministration
      const { owed } = yield* owedRefund(host)
      const { failedAttempt } = yield* find(owed.operationId)
      assert.include(failedAttempt?.reason, "No refund wallet")
    })
  )

  scenario("reports the facilitator's answer, and of a defect only that the log has it", (host) =>
    Effect.gen(function* () {
      const { list } = yield* OperationAdministration
      const { attempt, challenge } = yield* sendPaid
      host.payments.script.push("fail before")
      yield* failureOf(underClock(attempt(pay(challenge, ADA, "02"))))
      const [settling] = (yield* list({ state: "settling" })).items
      assert.strictEqual(settling?.failedAttempt?.reason, "500")
      host.sendScript.push(...Array.from({ length: 20 }, () => "broken" as const))
      yield* returnDebts
      const [broken] = (yield* list({ state: "fulfilling" })).items
      assert.strictEqual(broken?.failedAttempt?.reason, "Internal error. The log of the server has it.")
    })
  )

  scenario("lists the open operations, and pages through all of them", (host) =>
    Effect.gen(function* () {
      const { list } = yield* OperationAdministration
      const { fulfilled, owed } = yield* owedRefund(host)
      assert.deepStrictEqual(yield* list({ state: "open" }), { items: [owed], nextCursor: null })
      assert.deepStrictEqual(yield* list({ state: "settling" }), { items: [], nextCursor: null })
      const first = yield* list({ limit: 1, payer: ADA.toUpperCase().replace("X", "x") })
      assert.deepStrictEqual(first, { items: [owed], nextCursor: owed.operationId })
      const rest = yield* list({ limit: 1, cursor: owed.operationId })
      assert.deepStrictEqual(rest, { items: [fulfilled], nextCursor: null })
    })
  )

  scenario("retries a refund at once that waits for a wallet", (host) =>
    Effect.gen(function* () {
      const { find, retry } = yield* OperationAdministration
      const { owed } = yield* owedRefund(host)
      host.payments.refunding.mode = "pays"
      yield* returnDebts
      assert.strictEqual((yield* find(owed.operationId)).state, "refund_due", "it is scheduled for later")
      assert.strictEqual((yield* retry(owed.operationId)).nextAttempt?.kind, "due")
      yield* returnDebts
      assert.deepInclude(yield* find(owed.operationId), {
        state: "refunded",
        paymentState: "refunded",
        nextAttempt: null
      })
      assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 20_000n }])
    })
  )

  scenario("retries no operation that is final or that a worker holds, and changes neither", (host) =>
    Effect.gen(function* () {
      const { retry } = yield* OperationAdministration
      const store = yield* OperationStore
      const { fulfilled } = yield* owedRefund(host)
      const leased = yield* abandoned(fulfilled)
      const before = [yield* store.find(fulfilled.operationId), yield* store.find(leased)]
      const refused = [yield* failureOf(retry(fulfilled.operationId)), yield* failureOf(retry(leased))]
      assert.deepStrictEqual(
        refused.map(({ _tag }) => _tag),
        ["Conflict", "Conflict"]
      )
      assert.match(String(refused[0]), /is fulfilled, which is final\. There is nothing to retry\./)
      assert.match(String(refused[1]), /A worker holds the lease/)
      assert.deepStrictEqual([yield* store.find(fulfilled.operationId), yield* store.find(leased)], before)
    })
  )

  scenario("knows no operation without a record", () =>
    Effect.gen(function* () {
      const { find, list, retry } = yield* OperationAdministration
      yield* adasMailbox
      for (const unknown of [UNKNOWN, "x"]) {
        assert.strictEqual((yield* failureOf(find(unknown)))._tag, "ResourceNotFound")
        assert.strictEqual((yield* failureOf(retry(unknown)))._tag, "ResourceNotFound")
      }
      assert.lengthOf((yield* list({})).items, 1)
    })
  )
})
