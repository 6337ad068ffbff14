import { LedgerCheck, OperationStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { ADA, adasMailbox, failureOf, pay, returnDebts, scenario, sendPaid } from "../support/Purchase.ts"

const TOKEN = { network: "eip155:402402", asset: "0x00000000000000000000000000000000000000a1" }
const NAMED = { ...TOKEN, symbol: "USDT", decimals: 6 }
const PAY_TO = "0x00000000000000000000000000000000000000f0"
const REFUND_WALLET = "0x00000000000000000000000000000000000000f1"
const FORMER_PAY_TO = "0x00000000000000000000000000000000000000f3"
const THIEF = "0x00000000000000000000000000000000000000f2"

describe("LedgerCheck", () => {
  scenario("reports nothing when nothing was paid", () =>
    Effect.gen(function* () {
      const ledger = yield* LedgerCheck
      assert.deepStrictEqual(yield* ledger.check, [])
      const nothing = { count: 0, amount: 0n }
      assert.deepStrictEqual(yield* ledger.compareWithChain, [
        { ...NAMED, received: nothing, paidBack: nothing, unclaimed: [], ownTransfers: [], problems: [] }
      ])
    })
  )

  scenario("finds transfers of which the database knows no operation at all", (host) =>
    Effect.gen(function* () {
      const strays = [5n, 6n].map((block) => ({
        direction: "received" as const,
        transaction: `0x0${block}`,
        wallet: ADA,
        amount: 250_000n,
        block
      }))
      host.payments.log.push(...strays)
      const [chain] = yield* (yield* LedgerCheck).compareWithChain
      assert.deepInclude(chain, { received: { count: 2, amount: 500_000n }, unclaimed: strays, problems: [] })
      // The first block of the last day.
      host.payments.blocksBefore.push(5n)
      const [lastDay] = yield* (yield* LedgerCheck).compareWithChain
      assert.deepInclude(lastDay, { unclaimed: strays.slice(1) })
    })
  )

  scenario("accounts for every unit", (host) =>
    Effect.gen(function* () {
      host.sendScript.push("Rejected")
      const { attempt, challenge } = yield* sendPaid
      yield* failureOf(attempt(pay(challenge, ADA, "02")))
      const [token] = yield* (yield* LedgerCheck).check
      assert.deepStrictEqual(token, {
        ...NAMED,
        settled: 270_000n,
        fulfilled: 250_000n,
        inFlight: 0n,
        refundDue: 20_000n,
        refunded: 0n,
        problems: []
      })
      const [chain] = yield* (yield* LedgerCheck).compareWithChain
      assert.deepInclude(chain, { received: { count: 2, amount: 270_000n }, unclaimed: [], problems: [] })
    })
  )

  scenario("names a token that is accepted, and none of another", (host) =>
    Effect.gen(function* () {
      yield* adasMailbox
      const symbols = Effect.flatMap(LedgerCheck, ({ check, compareWithChain }) =>
        Effect.map(Effect.all([check, compareWithChain]), (parts) => parts.flat().map(({ symbol }) => symbol))
      )
      host.payments.change({ extra: { symbol: "USDC" } })
      assert.deepStrictEqual(yield* symbols, ["USDC", "USDC"])
      host.payments.change({ asset: "0x00000000000000000000000000000000000000B2" })
      assert.deepStrictEqual(yield* symbols, [null, "USDC", null])
    })
  )

  scenario("reports missing entries, and entries that disagree with the operation's state", () =>
    Effect.gen(function* () {
      const { answer } = yield* adasMailbox
      const store = yield* OperationStore
      const entry = { operationId: answer.operationId, ...TOKEN }
      yield* store.post([{ ...entry, account: "fulfilled", amount: -1n }])
      const [wrong] = yield* (yield* LedgerCheck).check
      assert.deepStrictEqual(wrong?.problems, [
        "settled is 250000, but its parts add up to 249999",
        "fulfilled is 249999 in the ledger, but 250000 by the operations"
      ])
      yield* store.post([{ ...entry, account: "inFlight", amount: 1n }])
      const [moved] = yield* (yield* LedgerCheck).check
      assert.deepStrictEqual(moved?.problems, [
        "fulfilled is 249999 in the ledger, but 250000 by the operations",
        "inFlight is 1 in the ledger, but 0 by the operations"
      ])
    })
  )

  scenario("finds the last day's transfers without an operation, once they are 10 minutes old", (host) =>
    Effect.gen(function* () {
      yield* adasMailbox
      const [transfer] = host.payments.log
      host.payments.log.push({ ...transfer!, transaction: "0xstray", block: 7n })
      const { findUnclaimed } = yield* LedgerCheck
      const strays = Effect.map(findUnclaimed, (tokens) =>
        tokens.map(({ asset, network, transfers }) => [network, asset, transfers.map(({ transaction }) => transaction)])
      )
      assert.deepStrictEqual(yield* strays, [[TOKEN.network, TOKEN.asset, []]])
      // The scripted chain returns these blocks as the ones before the requested times.
      host.payments.blocksBefore.push(1n, 7n)
      assert.deepStrictEqual(yield* strays, [[TOKEN.network, TOKEN.asset, ["0xstray"]]])
      host.payments.blocksBefore.push(7n, 9n)
      assert.deepStrictEqual(yield* strays, [[TOKEN.network, TOKEN.asset, []]])
    })
  )

  scenario("reports payments that the chain does not show, and transfers that no operation claims", (host) =>
    Effect.gen(function* () {
      yield* adasMailbox
      const transfer = host.payments.log.pop()!
      host.payments.log.push({ ...transfer, transaction: "0xelsewhere", amount: 1n })
      host.payments.log.push({ ...transfer, direction: "refunded", transaction: "0xgone" })
      const [chain] = yield* (yield* LedgerCheck).compareWithChain
      assert.deepStrictEqual(
        chain?.unclaimed.map(({ transaction }) => transaction),
        ["0xelsewhere"]
      )
      assert.lengthOf(chain?.problems ?? [], 2)
      assert.match(chain?.problems[0] ?? "", /is paid, but the chain shows no transfer in 0x01$/)
      assert.match(
        chain?.problems[1] ?? "",
        /^250000 base units \(0\.25 USDT\) were sent from the refund wallet to 0x0+ad in 0xgone without an operation$/
      )
    })
  )

  scenario("reports a transfer between own wallets as such, once, and as no payment, refund or problem", (host) =>
    Effect.gen(function* () {
      const moved = { transaction: "0x0e", amount: 7n, block: 5n }
      const toPayTo = [
        { ...moved, direction: "refunded", wallet: PAY_TO, ownWallet: REFUND_WALLET },
        { ...moved, direction: "received", wallet: REFUND_WALLET, ownWallet: PAY_TO }
      ] as const
      const toFormer = { ...moved, direction: "received", wallet: PAY_TO, ownWallet: FORMER_PAY_TO, block: 4n } as const
      host.payments.log.push(...toPayTo, ...structuredClone(toPayTo), toFormer)
      const { compareWithChain, findUnclaimed, findUnclaimedIn } = yield* LedgerCheck
      const nothing = { count: 0, amount: 0n }
      const transfer = { ...moved, from: REFUND_WALLET, to: PAY_TO }
      assert.deepStrictEqual(yield* compareWithChain, [
        {
          ...NAMED,
          received: nothing,
          paidBack: nothing,
          unclaimed: [],
          ownTransfers: [{ ...moved, block: 4n, from: PAY_TO, to: FORMER_PAY_TO }, transfer, transfer],
          problems: []
        }
      ])
      host.payments.blocksBefore.push(1n, 9n)
      assert.deepStrictEqual(yield* findUnclaimed, [{ ...TOKEN, transfers: [], outflows: [] }])
      assert.deepStrictEqual(yield* findUnclaimedIn("0x0e"), [])
    })
  )

  scenario("matches operations before it takes a transfer as one between own wallets", (host) =>
    Effect.gen(function* () {
      host.sendScript.push("Rejected")
      const { attempt, challenge } = yield* sendPaid
      yield* failureOf(attempt(pay(challenge, ADA, "02")))
      yield* returnDebts
      // As if the payer's wallet were our own.
      const own = host.payments.log.map((transfer) => ({ ...transfer, ownWallet: PAY_TO }))
      host.payments.log.splice(0, own.length, ...own)
      const [chain] = yield* (yield* LedgerCheck).compareWithChain
      assert.deepInclude(chain, {
        received: { count: 2, amount: 270_000n },
        paidBack: { count: 1, amount: 20_000n },
        unclaimed: [],
        ownTransfers: [],
        problems: []
      })
    })
  )

  scenario("names a transfer from the refund wallet to a stranger, and its amount by the token's decimals", (host) =>
    Effect.gen(function* () {
      host.payments.change({ extra: { symbol: "USDC", decimals: 18 } })
      const amount = 1_000n * 10n ** 18n
      host.payments.log.push({ direction: "refunded", transaction: "0x5e", wallet: THIEF, amount, block: 5n })
      const message = `${amount} base units (1000.00 USDC) were sent from the refund wallet to ${THIEF} in 0x5e without an operation`
      const { compareWithChain, findUnclaimed } = yield* LedgerCheck
      assert.deepStrictEqual((yield* compareWithChain)[0]?.problems, [message])
      host.payments.blocksBefore.push(1n, 5n)
      assert.deepStrictEqual(yield* findUnclaimed, [{ ...TOKEN, transfers: [], outflows: [message] }])
      host.payments.blocksBefore.push(1n, 4n)
      assert.deepStrictEqual(yield* findUnclaimed, [{ ...TOKEN, transfers: [], outflows: [] }])
    })
  )
})
