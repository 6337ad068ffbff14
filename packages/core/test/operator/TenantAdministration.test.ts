import {
  CallAdmission,
  CallStore,
  CallWatch,
  Credentials,
  OperationCompletion,
  OperationStore,
  type Tenant,
  TenantAdministration
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { adasNumber, bought, PERSON, phoneRequest } from "../support/PhonePurchase.ts"
import {
  ADA,
  adasMailbox,
  balances,
  create,
  failureOf,
  pay,
  returnDebts,
  scenario,
  send,
  sendPaid,
  underClock
} from "../support/Purchase.ts"

const REASON = "Sends spam."

const suspend = Effect.fnUntraced(function* ({ tenantId }: Tenant) {
  const { suspend } = yield* TenantAdministration
  return Option.getOrThrow(yield* suspend(tenantId, REASON))
})

const resume = Effect.fnUntraced(function* ({ wallet }: Tenant) {
  const { resume } = yield* TenantAdministration
  return Option.getOrThrow(yield* resume(wallet))
})

const minutes = (phoneNumberId: string, tenant: Tenant) =>
  bought({ serviceId: "phone.call.inbound.add.10m", tenant, input: { phoneNumberId } })

describe("a suspended tenant", () => {
  scenario("is refused each purchase, before it pays, until it is resumed", (host) =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const { tenant: suspended } = yield* suspend(tenant)
      assert.deepStrictEqual(suspended.suspension?.reason, REASON)
      const refused = yield* failureOf(send(suspended, mailboxId, {}))
      assert.deepInclude(refused, { _tag: "TenantSuspended", reason: REASON })
      const { tenant: resumed } = yield* resume(tenant)
      assert.deepStrictEqual(resumed, tenant)
      assert.strictEqual((yield* failureOf(send(resumed, mailboxId, {})))._tag, "PaymentRequired")
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
    })
  )

  scenario("is not charged where it pays without its token, or through a server that does not know yet", (host) =>
    Effect.gen(function* () {
      const { challenge, mailboxId, tenant } = yield* sendPaid
      const unpaid = yield* failureOf(create({ localPart: "eve" }))
      const unnamed = unpaid._tag === "PaymentRequired" ? unpaid.challenge : ""
      yield* suspend(tenant)
      const bought = yield* failureOf(create({ localPart: "eve" }, { signature: pay(unnamed, ADA, "07"), key: "k7" }))
      assert.strictEqual(bought._tag, "TenantSuspended")
      const stale = yield* failureOf(send(tenant, mailboxId, { signature: pay(challenge, ADA, "08"), key: "k8" }))
      assert.strictEqual(stale._tag, "TenantSuspended")
      assert.strictEqual(host.payments.transfers.get(ADA), 1)
      assert.strictEqual(host.payments.settleCalls(), 1)
    })
  )

  scenario("gets its answers again, and no realtime token", () =>
    Effect.gen(function* () {
      const { answer, signature, tenant } = yield* adasMailbox
      const { tenant: suspended } = yield* suspend(tenant)
      assert.deepStrictEqual((yield* create({ localPart: "ada" }, { signature })).body, answer.body)
      const { findRevoked, issueRealtime } = yield* Credentials
      assert.strictEqual((yield* failureOf(issueRealtime(suspended)))._tag, "TenantSuspended")
      assert.lengthOf(yield* findRevoked([tenant]), 1)
      yield* resume(tenant)
      assert.lengthOf(yield* findRevoked([tenant]), 0)
    })
  )

  scenario("is refunded for a paid operation that the provider had not performed", (host) =>
    Effect.gen(function* () {
      host.sendScript.push("Temporary", "Temporary")
      const { attempt, challenge, tenant } = yield* sendPaid
      const signature = pay(challenge, ADA, "02")
      const delayed = yield* failureOf(attempt(signature))
      assert.strictEqual(delayed._tag, "OperationDelayed")
      yield* suspend(tenant)
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* TestClock.adjust("2 minutes")
      const operationId = delayed._tag === "OperationDelayed" ? (delayed.operationId ?? "") : ""
      const operation = Option.getOrThrow(yield* (yield* OperationStore).find(operationId))
      assert.deepInclude(operation, { state: "refunded" })
      assert.deepInclude(operation.failure, {
        message: "The tenant was suspended before the operation could complete."
      })
      assert.lengthOf(host.sent, 0)
      assert.deepStrictEqual([...host.payments.refunds.values()], [{ wallet: ADA, amount: 20_000n }])
      assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 250_000n, refunded: 20_000n })
    })
  )

  scenario("is not called, and the calls that it has are ended", (host) =>
    Effect.gen(function* () {
      const { number, phoneNumberId, tenant } = yield* adasNumber
      yield* minutes(phoneNumberId, tenant)
      const { call } = (yield* bought({
        serviceId: "phone.call.outbound.1m",
        tenant,
        input: { phoneNumberId, toNumber: PERSON }
      })) as { readonly call: { readonly callId: string } }
      const admission = yield* CallAdmission
      assert.strictEqual((yield* admission.answered(call.callId))._tag, "Connect")
      yield* Effect.forkScoped(CallWatch.run)
      assert.deepInclude(yield* suspend(tenant), { numbers: 1, liveCalls: 1 })
      const arriving = { providerCallId: "in-1", from: PERSON, to: number }
      assert.strictEqual((yield* admission.admit(arriving))._tag, "Decline")
      assert.strictEqual((yield* admission.resume(call.callId))._tag, "Decline")
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(Option.getOrThrow(yield* (yield* CallStore).get(call.callId)), { state: "ended" })
      assert.isTrue(host.carrier.log.some((line) => line.startsWith("hangUp")))
      yield* resume(tenant)
      assert.strictEqual((yield* admission.admit({ ...arriving, providerCallId: "in-2" }))._tag, "Connect")
    })
  )

  scenario("does not call, not even where the payment came first: it goes back", (host) =>
    Effect.gen(function* () {
      const { phoneNumberId, tenant } = yield* adasNumber
      const input = { phoneNumberId, toNumber: PERSON }
      const { signed } = yield* phoneRequest({ serviceId: "phone.call.outbound.1m", tenant, input })
      const attempt = yield* signed
      // The suspension falls between the claim and the settlement.
      host.payments.script.push("fail before", "fail before")
      yield* failureOf(underClock(attempt))
      yield* suspend(tenant)
      yield* Effect.forkScoped(OperationCompletion.run)
      yield* TestClock.adjust("2 minutes")
      assert.lengthOf(host.carrier.calls, 0)
      const paid = yield* balances
      assert.strictEqual((paid["received"] ?? 0n) + (paid["fulfilled"] ?? 0n) + (paid["refunded"] ?? 0n), 0n)
    })
  )

  scenario("does not call, not even where it is suspended between the check before the call and the call", (host) =>
    Effect.gen(function* () {
      const { phoneNumberId, tenant } = yield* adasNumber
      const before = yield* balances
      const input = { phoneNumberId, toNumber: PERSON }
      const { signed } = yield* phoneRequest({ serviceId: "phone.call.outbound.1m", tenant, input })
      const attempt = yield* signed
      // The operation is with its service, which has not written the call down.
      yield* host.database.close
      const placing = yield* Effect.forkChild(Effect.result(attempt))
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* suspend(tenant), { liveCalls: 0 })
      yield* host.database.open
      const failure = yield* failureOf(Effect.flatMap(Fiber.join(placing), Effect.fromResult))
      assert.deepInclude(failure, { _tag: "OperationRejected" })
      assert.include(failure.message, "the tenant is suspended")
      assert.lengthOf(
        host.carrier.log.filter((line) => line.startsWith("place")),
        0
      )
      yield* returnDebts
      const { fulfilled, received = 0n, refunded = 0n } = yield* balances
      assert.strictEqual(fulfilled, before["fulfilled"])
      assert.strictEqual(received + (fulfilled ?? 0n) + refunded, 0n)
    })
  )
})

describe("the operator", () => {
  scenario("finds a tenant by its id and its wallet, with its usage", () =>
    Effect.gen(function* () {
      const { tenant } = yield* adasMailbox
      const { find } = yield* TenantAdministration
      const mail = { messages: 0, bytes: 0 }
      const report = Option.some({ tenant, mailboxes: 1, mail, numbers: 0, liveCalls: 0, sendingPause: null })
      assert.deepStrictEqual(yield* find(tenant.tenantId), report)
      assert.deepStrictEqual(yield* find(tenant.wallet), report)
      assert.deepStrictEqual(yield* find("01900000-0000-7000-8000-00000000dead"), Option.none())
    })
  )
})
