import {
  LedgerCheck,
  ManualRefunds,
  OperationAdministration,
  type OperationReport,
  OperationStore,
  refundByHand,
  returnByHand,
  walletAddress
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  ADA,
  adasMailbox,
  balances,
  BOB,
  challengeOf,
  create,
  eventsOf,
  failureOf,
  type Host,
  pay,
  returnDebts,
  scenario,
  send,
  underClock
} from "../support/Purchase.ts"

const TX = "0xa11ce"
const PRICE = 20_000n

/** An operation of Ada's whose refund is due, because its mail was rejected and there is no refund wallet. */
const owed = Effect.fnUntraced(function* (host: Host) {
  host.payments.refunding.mode = "no wallet"
  const { mailboxId, tenant } = yield* adasMailbox
  const fail = Effect.fnUntraced(function* (nonce: string) {
    host.sendScript.push("Rejected")
    const error = yield* failureOf(send(tenant, mailboxId, { key: nonce }))
    const challenge = error._tag === "PaymentRequired" ? error.challenge : ""
    yield* failureOf(send(tenant, mailboxId, { signature: pay(challenge, ADA, nonce), key: nonce }))
    const { list } = yield* OperationAdministration
    return (yield* list({ state: "refund_due" })).items[0]?.operationId ?? ""
  })
  return { operationId: yield* fail("02"), tenant, fail }
})

const dueRefund = Effect.gen(function* () {
  const { list } = yield* OperationAdministration
  const [due] = (yield* list({ state: "refund_due" })).items
  if (due === undefined) throw new Error("no refund is due")
  return due
})

/** A transfer between wallets that are not of this service. */
const transferTo = (host: Host, wallet = ADA, amount = PRICE, transaction = TX, block = 50n) =>
  void host.payments.strangers.push({ direction: "refunded", transaction, wallet, amount, block })

const refusalOf = (refund: Effect.Effect<unknown, { readonly message: string }, ManualRefunds>) =>
  Effect.map(Effect.flip(refund), ({ message }) => message)

/** Asserts that the ledger balances and equals the chain, without an unclaimed transfer. */
const assertClosed = Effect.gen(function* () {
  const ledger = yield* LedgerCheck
  for (const { problems } of yield* ledger.check) assert.deepStrictEqual(problems, [])
  for (const { problems, unclaimed } of yield* ledger.compareWithChain) {
    assert.deepStrictEqual([problems, unclaimed], [[], []])
  }
})

describe("a refund by hand", () => {
  scenario("completes the operation once the chain shows it, and the ledger equals the chain", (host) =>
    Effect.gen(function* () {
      const { operationId, tenant } = yield* owed(host)
      transferTo(host, ADA, PRICE + 1n)
      const refunded = yield* refundByHand(operationId, TX)
      assert.deepInclude(refunded, { state: "refunded", paymentState: "refunded", nextAttempt: null })
      assert.deepStrictEqual(refunded.refund?.transaction, TX)
      assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 250_000n, refunded: 20_000n })
      assert.strictEqual((yield* eventsOf(tenant)).at(-1)?.type, "payment.refunded")
      yield* assertClosed
      host.payments.refunding.mode = "pays"
      yield* returnDebts
      assert.strictEqual(host.payments.refunds.size, 0, "it is not refunded again")
    })
  )

  scenario("may come from the refund wallet, whose other transfers stay problems", (host) =>
    Effect.gen(function* () {
      const { operationId } = yield* owed(host)
      host.payments.log.push({ direction: "refunded", transaction: TX, wallet: ADA, amount: PRICE, block: 50n })
      const [before] = yield* (yield* LedgerCheck).compareWithChain
      assert.lengthOf(before?.problems ?? [], 1)
      yield* refundByHand(operationId, TX)
      yield* assertClosed
    })
  )

  scenario("leaves the refund wallet without a message of the audit, due, recorded, or of an old operation", (host) =>
    Effect.gen(function* () {
      const { fail, operationId } = yield* owed(host)
      yield* fail("03")
      yield* TestClock.adjust("3 days")
      host.payments.log.push({ direction: "refunded", transaction: TX, wallet: ADA, amount: PRICE, block: 50n })
      const { findUnclaimed } = yield* LedgerCheck
      const outflows = Effect.suspend(() => {
        host.payments.blocksBefore.push(40n, 60n)
        return Effect.map(findUnclaimed, ([token]) => token?.outflows)
      })
      assert.deepStrictEqual(yield* outflows, [])
      yield* refundByHand(operationId, TX)
      host.payments.refunding.mode = "pays"
      yield* returnDebts
      const [automatic] = host.payments.log.splice(-1)
      host.payments.log.push({ ...automatic!, block: 51n })
      assert.deepStrictEqual(yield* outflows, [])
      host.payments.log.push({ ...automatic!, transaction: "0x5e", block: 52n })
      assert.lengthOf((yield* outflows) ?? [], 1)
    })
  )

  scenario("is recorded once, however often the operator repeats it", (host) =>
    Effect.gen(function* () {
      const { operationId } = yield* owed(host)
      transferTo(host)
      const first = yield* refundByHand(operationId, TX)
      assert.deepStrictEqual(yield* refundByHand(operationId, TX.toUpperCase().replace("0X", "0x")), first)
      assert.match(yield* refusalOf(refundByHand(operationId, "0xother")), /was refunded by 0xa11ce\.$/)
      assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 250_000n, refunded: 20_000n })
    })
  )

  scenario("is refused without a final transfer of the whole amount to the payer, and stays due", (host) =>
    Effect.gen(function* () {
      const { operationId } = yield* owed(host)
      const refusal = refusalOf(refundByHand(operationId, TX))
      assert.match(yield* refusal, /does not show 0xa11ce yet/)
      transferTo(host, BOB)
      transferTo(host, ADA, PRICE - 1n)
      assert.match(yield* refusal, /has no transfer of at least 20000 base units/)
      transferTo(host)
      host.payments.finality.block = 49n
      assert.match(yield* refusal, /is not final yet/)
      host.payments.outage.chain = true
      assert.match(yield* refusal, /unreachable/)
      host.payments.outage.chain = false
      host.payments.finality.block = 50n
      assert.deepInclude(yield* dueRefund, { operationId })
      assert.deepStrictEqual(yield* balances, { received: -270_000n, fulfilled: 250_000n, refundDue: 20_000n })
      yield* refundByHand(operationId, TX)
      yield* assertClosed
    })
  )

  scenario("is refused for an operation that owes nothing", () =>
    Effect.gen(function* () {
      yield* create({ localPart: "ada" }, { signature: pay(yield* challengeOf(), ADA, "01") })
      const { list } = yield* OperationAdministration
      const [fulfilled] = (yield* list({ payer: ADA })).items
      assert.match(
        yield* refusalOf(refundByHand(fulfilled?.operationId ?? "", TX)),
        /is fulfilled, so no refund is due/
      )
      assert.strictEqual((yield* Effect.flip(refundByHand("unknown", TX)))._tag, "ResourceNotFound")
    })
  )

  scenario("is refused for a transfer that refunds another operation, by hand or by this service", (host) =>
    Effect.gen(function* () {
      const { fail, operationId } = yield* owed(host)
      const second = yield* fail("03")
      transferTo(host)
      yield* refundByHand(operationId, TX)
      assert.match(yield* refusalOf(refundByHand(second, TX)), /is that of another refund/)

      host.payments.refunding.mode = "pays"
      yield* TestClock.adjust("20 minutes")
      yield* returnDebts
      host.payments.refunding.mode = "no wallet"
      const third = yield* fail("04")
      const [automatic] = host.payments.log.filter(({ direction }) => direction === "refunded")
      const refusal = refusalOf(refundByHand(third, automatic?.transaction ?? ""))
      assert.match(yield* refusal, /is that of another refund/)
    })
  )

  scenario("is refused if this service has paid: it records its own refund", (host) =>
    Effect.gen(function* () {
      const { operationId } = yield* owed(host)
      host.payments.refunding.mode = "loses the answer"
      yield* TestClock.adjust("20 minutes")
      yield* returnDebts
      assert.strictEqual(host.payments.refunds.size, 1)
      transferTo(host)
      const message = yield* refusalOf(refundByHand(operationId, TX))
      assert.match(message, /This service has made or submitted the refund itself/)
      host.payments.refunding.mode = "pays"
      yield* TestClock.adjust("20 minutes")
      yield* returnDebts
      yield* assertClosed
    })
  )

  scenario("is a problem of the ledger if the chain no longer shows it", (host) =>
    Effect.gen(function* () {
      const { operationId } = yield* owed(host)
      transferTo(host)
      yield* refundByHand(operationId, TX)
      host.payments.strangers.length = 0
      const [chain] = yield* (yield* LedgerCheck).compareWithChain
      assert.deepStrictEqual(chain?.problems, [
        `20000 was refunded by hand to ${ADA}, but the chain shows no transfer in ${TX}`
      ])
    })
  )
})

describe("the return of an unclaimed transfer", () => {
  const received = (host: Host) =>
    void host.payments.log.push({ direction: "received", transaction: "0xg1f7", wallet: BOB, amount: 5n, block: 40n })

  scenario("closes it, once, and by a transfer that no other refund has", (host) =>
    Effect.gen(function* () {
      received(host)
      received(host)
      assert.match(yield* refusalOf(returnByHand({ transaction: "0xn0ne" }, TX)), /has no unclaimed transfer/)
      transferTo(host, BOB, 5n)
      const gift = { transaction: "0xG1F7", wallet: BOB }
      const returned = yield* returnByHand(gift, TX)
      assert.deepInclude(returned, { receivedTransaction: "0xg1f7", transaction: TX, wallet: BOB, baseUnits: "5" })
      assert.deepStrictEqual(yield* returnByHand(gift, TX), returned)
      const [chain] = yield* (yield* LedgerCheck).compareWithChain
      assert.lengthOf(chain?.unclaimed ?? [], 1, "the second transfer of the transaction")
      transferTo(host, BOB, 5n, "0xa11cf")
      yield* returnByHand(gift, "0xa11cf")
      yield* assertClosed
    })
  )

  scenario("asks for the wallet if the transaction has transfers of several", (host) =>
    Effect.gen(function* () {
      received(host)
      host.payments.log.push({ direction: "received", transaction: "0xg1f7", wallet: ADA, amount: 5n, block: 40n })
      transferTo(host, ADA, 5n)
      assert.match(yield* refusalOf(returnByHand({ transaction: "0xg1f7" }, TX)), /of several wallets/)
      yield* returnByHand({ transaction: "0xg1f7", wallet: ADA }, TX)
    })
  )

  scenario("is the refund of the payer who presents the payment later: the money moves once", (host) =>
    Effect.gen(function* () {
      const signature = pay(yield* challengeOf(), ADA, "07")
      host.payments.useNonce(signature)
      const [transfer] = host.payments.log
      transferTo(host, ADA, 250_000n)
      yield* returnByHand({ transaction: transfer?.transaction ?? "" }, TX)
      yield* assertClosed
      assert.strictEqual((yield* failureOf(create({ localPart: "ada" }, { signature })))._tag, "PaymentReturned")
      yield* returnDebts
      assert.strictEqual(host.payments.refunds.size, 0)
      const [operation] = yield* (yield* OperationStore).list({ payer: walletAddress(ADA), limit: 1 })
      assert.deepInclude(operation, { state: "refunded", refundTransaction: TX })
      yield* assertClosed
    })
  )

  scenario("waits for an open operation of the payer that may hold the transfer", (host) =>
    Effect.gen(function* () {
      const challenge = yield* challengeOf()
      host.payments.script.push("lose the answer")
      host.payments.outage.logs = true
      yield* failureOf(underClock(create({ localPart: "ada" }, { signature: pay(challenge, ADA, "08") })))
      const [transfer] = host.payments.log
      transferTo(host, ADA, 250_000n)
      const returning = returnByHand({ transaction: transfer?.transaction ?? "" }, TX)
      assert.match(yield* refusalOf(returning), /may hold this transfer/)
    })
  )
})

describe("the timeline of an operation", () => {
  scenario("has its claim, the moves of its money and the actions of operators, oldest first", (host) =>
    Effect.gen(function* () {
      const { operationId } = yield* owed(host)
      yield* TestClock.adjust("1 minute")
      transferTo(host)
      yield* refundByHand(operationId, TX)
      const { find } = yield* OperationAdministration
      const { timeline } = yield* find(operationId)
      assert.deepStrictEqual(
        timeline.map(({ event, transaction }) => [event, transaction]),
        [
          ["claimed", undefined],
          ["settled", "0x02"],
          ["refund_due", undefined],
          ["refunded", TX]
        ]
      )
      assert.isAbove(Date.parse(timeline[3]!.at), Date.parse(timeline[2]!.at))
    })
  )

  scenario("belongs to an operation that is found by state, tenant and age", (host) =>
    Effect.gen(function* () {
      const { operationId, tenant } = yield* owed(host)
      const { list } = yield* OperationAdministration
      const ids = (items: ReadonlyArray<OperationReport>) => items.map((one) => one.operationId)
      yield* TestClock.adjust("10 minutes")
      const due = { state: "refund_due", tenant: tenant.tenantId } as const
      assert.deepStrictEqual(ids((yield* list({ ...due, olderThanMinutes: 9 })).items), [operationId])
      assert.deepStrictEqual(ids((yield* list({ ...due, olderThanMinutes: 11 })).items), [])
      assert.deepStrictEqual(ids((yield* list({ ...due, tenant: BOB })).items), [])
      assert.deepStrictEqual(ids((yield* list({ ...due, tenant: "unknown" })).items), [])
      const fulfilled = (yield* list({ state: "fulfilled", tenant: tenant.wallet })).items
      assert.deepStrictEqual(
        fulfilled.map(({ state }) => state),
        ["fulfilled"]
      )
    })
  )
})
