import { LedgerCheck, OperationStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { ADA, adasMailbox, failureOf, pay, scenario, sendPaid } from "../support/Purchase.ts"

const TOKEN = { network: "eip155:402402", asset: "0x00000000000000000000000000000000000000a1" }
const NAMED = { ...TOKEN, symbol: "USDT" }

describe("LedgerCheck", () => {
  scenario("reports nothing when nothing was paid", () =>
    Effect.gen(function* () {
      const ledger = yield* LedgerCheck
      assert.deepStrictEqual(yield* ledger.check, [])
      const nothing = { count: 0, amount: 0n }
      assert.deepStrictEqual(yield* ledger.compareWithChain, [
        { ...NAMED, received: nothing, paidBack: nothing, unclaimed: [], problems: [] }
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
      assert.match(chain?.problems[1] ?? "", /^250000 was refunded to 0x0+ad in 0xgone without an operation$/)
    })
  )
})
