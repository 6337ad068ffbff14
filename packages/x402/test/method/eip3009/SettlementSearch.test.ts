import type { Settlement } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as EvmChain from "../../../src/chain/EvmChain.ts"
import { offer, type PaymentNetwork } from "../../../src/network/PaymentNetwork.ts"
import * as AuthorizationUse from "../../../src/method/eip3009/AuthorizationUse.ts"
import { findSettlement } from "../../../src/method/eip3009/SettlementSearch.ts"
import type { SettlementQuery } from "../../../src/method/TransferMethod.ts"
import * as ChainFake from "../../support/ChainFake.ts"
import { unreachableUrl } from "../../support/HttpFake.ts"
import {
  cancelLogs,
  network,
  nonce,
  SEED,
  stranger,
  terms,
  transaction,
  unsignedProof,
  useLogs
} from "../../support/Sample.ts"

/**
 * A chain at block 100 whose block 90, with time 1,000, is final; and the sample proof, valid before 2,000,
 * searched for after block 50.
 */
const prepare = (other: Partial<PaymentNetwork> = {}) =>
  Effect.gen(function* () {
    const { seen, state, url } = yield* ChainFake.start
    const offered = yield* offer(network(url, unreachableUrl, other))
    const chain = EvmChain.make(offered)
    const find = (query: Partial<SettlementQuery> = {}) =>
      findSettlement(chain, AuthorizationUse.make(chain, offered.asset), {
        proof: unsignedProof(),
        terms: terms(),
        afterBlock: 50n,
        transaction: undefined,
        confirmations: 0,
        ...query
      })
    /** Uses the nonce in a block, with these logs. */
    const use = (block: number, logs: ReadonlyArray<ChainFake.FakeLog> = useLogs(block)) => {
      state.usedFrom.set(nonce, block)
      state.logs.push(...logs)
    }
    const asked = (method: string) => seen.filter(({ body }) => body.includes(`"${method}"`)).length
    return { state, find, use, asked }
  })

const paid = (block: bigint): Settlement => ({ _tag: "Paid", transaction, block })
const tagOf = Effect.map((settlement: Settlement) => settlement._tag)

describe("findSettlement", () => {
  it.effect("finds a payment by its transaction, without a search", () =>
    Effect.gen(function* () {
      const { asked, find, use } = yield* prepare()
      use(60)
      assert.deepStrictEqual(yield* find({ transaction }), paid(60n))
      assert.deepStrictEqual(yield* find({ transaction: transaction.toUpperCase().replace("0X", "0x") }), paid(60n))
      assert.strictEqual(asked("eth_getLogs"), 0)
    })
  )

  it.effect("finds a payment that anyone submitted, in any range of blocks", () =>
    Effect.gen(function* () {
      for (const block of [51, 60, 61, 62, 99, 100]) {
        const { find, use } = yield* prepare()
        use(block)
        assert.deepStrictEqual(yield* find(), paid(BigInt(block)))
      }
    })
  )

  it.effect("finds a payment although the facilitator named another transaction", () =>
    Effect.gen(function* () {
      const { find, state, use } = yield* prepare()
      use(60)
      assert.deepStrictEqual(yield* find({ transaction: `0x${"11".repeat(32)}` }), paid(60n))
      const other = useLogs(70).map((log) => ({ ...log, transaction: `0x${"22".repeat(32)}` as const }))
      state.logs.push(...other.map((log) => ({ ...log, topics: [...log.topics.slice(0, 2), ChainFake.TRANSFER] })))
      assert.deepStrictEqual(yield* find({ transaction: `0x${"22".repeat(32)}` }), paid(60n))
    })
  )

  it.effect("accepts only the requested transfer as payment", () =>
    Effect.gen(function* () {
      const uses: ReadonlyArray<readonly [what: string, logs: ReadonlyArray<ChainFake.FakeLog>]> = [
        ["cancelled", cancelLogs(60)],
        ["from a stranger", useLogs(60, { from: stranger })],
        ["to a stranger", useLogs(60, { to: stranger })],
        ["less", useLogs(60, { value: 249_999n })],
        ["more", useLogs(60, { value: 250_001n })],
        ["not directly after", useLogs(60, { gap: 2 })],
        ["before", useLogs(60, { gap: -1 })],
        ["in another token", useLogs(60, { token: stranger })],
        ["without a transfer", useLogs(60).slice(0, 1)],
        ["a cancellation before a transfer", [...cancelLogs(60), { ...useLogs(60)[1]!, logIndex: 1 }]]
      ]
      for (const [what, logs] of uses) {
        for (const known of [transaction, undefined]) {
          const { find, use } = yield* prepare()
          use(60, logs)
          assert.strictEqual(yield* tagOf(find({ transaction: known })), "UsedOtherwise", what)
        }
      }
    })
  )

  it.effect("distinguishes two payments in the same transaction", () =>
    Effect.gen(function* () {
      const { find, use } = yield* prepare()
      const strangers = useLogs(60).map((log, index) => ({
        ...log,
        logIndex: 10 + index,
        topics: log.topics.map((topic) => (topic === nonce ? (`0x${"cd".repeat(32)}` as const) : topic))
      }))
      use(60, [...strangers, ...useLogs(60, { to: stranger })])
      assert.strictEqual(yield* tagOf(find({ transaction })), "UsedOtherwise")
    })
  )

  it.effect("reports a cancelled authorization as cancelled", () =>
    Effect.gen(function* () {
      const { find, use } = yield* prepare()
      use(60, cancelLogs(60))
      const message = "The payer cancelled the authorization."
      assert.deepStrictEqual(yield* find(), { _tag: "UsedOtherwise", message, block: 60n })
    })
  )

  it.effect("ignores a use in the block that was read or before it", () =>
    Effect.gen(function* () {
      for (const block of [1, 49, 50]) {
        for (const known of [transaction, undefined]) {
          const { find, use } = yield* prepare()
          use(block)
          assert.strictEqual(yield* tagOf(find({ transaction: known })), "UsedOtherwise", `block ${block}`)
        }
      }
    })
  )

  it.effect("decides nothing before enough blocks have followed", () =>
    Effect.gen(function* () {
      for (const logs of [useLogs(98), cancelLogs(98)]) {
        const { find, state, use } = yield* prepare()
        use(98, logs)
        assert.strictEqual(yield* tagOf(find({ confirmations: 3 })), "Unsettled")
        assert.strictEqual(yield* tagOf(find({ confirmations: 3, transaction })), "Unsettled")
        state.latest = 101
        assert.notStrictEqual(yield* tagOf(find({ confirmations: 3 })), "Unsettled")
        assert.notStrictEqual(yield* tagOf(find({ confirmations: 3, transaction })), "Unsettled")
      }
    })
  )

  it.effect("decides nothing from an earlier use before enough blocks have followed", () =>
    Effect.gen(function* () {
      const { find, state, use } = yield* prepare()
      use(60)
      assert.strictEqual(yield* tagOf(find({ afterBlock: 98n, confirmations: 3 })), "Unsettled")
      state.latest = 101
      assert.strictEqual(yield* tagOf(find({ afterBlock: 98n, confirmations: 3 })), "UsedOtherwise")
    })
  )

  it.effect("treats an unused authorization as expired only when finalized time is past it", () =>
    Effect.gen(function* () {
      const { find, state } = yield* prepare()
      const times: ReadonlyArray<readonly [timestamp: number, expired: boolean]> = [
        [1_000, false],
        [2_000, false],
        [2_001, true]
      ]
      for (const [timestamp, expired] of times) {
        state.finalized = { number: 90, timestamp }
        assert.deepStrictEqual(yield* find(), { _tag: "Unused", expired })
        assert.deepStrictEqual(yield* find({ transaction }), { _tag: "Unused", expired })
      }
    })
  )

  it.effect("decides nothing from a node that is behind the finalized block", () =>
    Effect.gen(function* () {
      const { find, state } = yield* prepare()
      state.finalized = { number: 101, timestamp: 3_000 }
      assert.deepStrictEqual(yield* find(), { _tag: "Unused", expired: false })
    })
  )

  it.effect("waits for logs that lag behind the state, instead of treating a payment as lost", () =>
    Effect.gen(function* () {
      const { find, state, use } = yield* prepare()
      use(60)
      state.logsLag = true
      assert.deepStrictEqual(yield* find(), { _tag: "Unsettled" })
      assert.deepStrictEqual(yield* find({ transaction }), { _tag: "Unsettled" })
      state.logsLag = false
      assert.deepStrictEqual(yield* find(), paid(60n))
    })
  )

  it.effect("waits for the log also if the state of that time is gone", () =>
    Effect.gen(function* () {
      const { find, state, use } = yield* prepare()
      use(60)
      state.logsLag = true
      state.stateFrom = 80
      assert.deepStrictEqual(yield* find(), { _tag: "Unsettled" })
      state.logsLag = false
      assert.deepStrictEqual(yield* find(), paid(60n))
    })
  )

  it.effect("ends a search that would take too many requests", () =>
    Effect.gen(function* () {
      const { asked, find, state, use } = yield* prepare({ logBlocksMax: 1 })
      state.latest = 100_000
      use(90_000)
      assert.deepStrictEqual(yield* find(), { _tag: "Unsettled" })
      assert.strictEqual(asked("eth_getLogs"), EvmChain.LOG_QUESTIONS_MAX)
    })
  )

  const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
  it.effect.prop(
    "reports exactly the payments after the block that was read as paid",
    {
      block: between(40, 100),
      afterBlock: between(40, 100),
      confirmations: between(0, 5),
      to: Schema.Literals([terms().payTo, stranger]),
      value: Schema.Literals([249_999n, 250_000n]),
      gap: Schema.Literals([1, 2]),
      known: Schema.Boolean
    },
    ({ afterBlock, block, confirmations, gap, known, to, value }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { find, use } = yield* prepare()
          use(block, useLogs(block, { to, value, gap }))
          const found = yield* find({
            afterBlock: BigInt(afterBlock),
            confirmations,
            transaction: known ? transaction : undefined
          })
          const late = block > afterBlock
          const right = to === terms().payTo && value === 250_000n && gap === 1
          // If only the state shows a use before the block that was read, its position is unknown except that
          // it is before.
          const sure = (!late && !known ? afterBlock : block) + confirmations <= 100
          assert.strictEqual(found._tag, !sure ? "Unsettled" : late && right ? "Paid" : "UsedOtherwise")
        })
      ),
    { arbitrary: { seed: SEED, runs: 60 } }
  )
})
