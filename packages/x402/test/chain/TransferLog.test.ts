import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { type Hex, numberToHex, pad, toFunctionSelector } from "viem"
import { LOG_QUESTIONS_MAX } from "../../src/chain/EvmChain.ts"
import type { PaymentNetwork } from "../../src/index.ts"
import { domainOf } from "../../src/method/TokenDomain.ts"
import { hexOf } from "../../src/network/AuthorizedTransfer.ts"
import { offer } from "../../src/network/PaymentNetwork.ts"
import { domainSeparator } from "../../src/network/TypedDomain.ts"
import { PAGE_TRANSFERS_MAX } from "../../src/chain/TransferLog.ts"
import { type FakeLog, TRANSFER } from "../support/ChainFake.ts"
import { prepare } from "../support/RailFake.ts"
import { privateKey, wallet } from "../support/RefundFake.ts"
import * as Sample from "../support/Sample.ts"

const token = { network: "eip155:402402", asset: Sample.asset }
const refund = { privateKey: Redacted.make(privateKey) }
const payer = Sample.payer.address.toLowerCase()
const payTo = Sample.payTo.toLowerCase()
const ours = (number: number): Hex => numberToHex(number, { size: 20 })
const stranger = Sample.stranger.toLowerCase()

const hash = (number: number): Hex => numberToHex(number, { size: 32 })
const transfer = (block: number, from: string, to: string, value: bigint, other: Partial<FakeLog> = {}): FakeLog => ({
  block,
  transaction: hash(block),
  logIndex: 1,
  address: Sample.asset,
  topics: [TRANSFER, pad(hexOf(from)), pad(hexOf(to))],
  data: numberToHex(value, { size: 32 }),
  ...other
})

const start = (other: Partial<PaymentNetwork> = {}) =>
  Effect.gen(function* () {
    const { build, chainSeen, configured, state } = yield* prepare(other)
    const rail = yield* build(configured)
    const asked = () => chainSeen.filter(({ body }) => body.includes('"eth_getLogs"')).length
    return { rail, state, asked }
  })

describe("PaymentRailX402.transfers", () => {
  it.effect("lists incoming payments and refunds, oldest first, and nothing else", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* start({ refund: { ...refund, formerWallets: [Sample.stranger] } })
      state.logs.push(
        transfer(80, wallet, payer, 3n, { logIndex: 7 }),
        transfer(80, payer, Sample.payTo, 2n, { logIndex: 4 }),
        transfer(95, Sample.stranger, payer, 4n),
        transfer(12, payer, Sample.payTo, 1n),
        transfer(11, payer, Sample.payTo, 9n),
        transfer(60, payer, Sample.payTo, 9n, { address: Sample.stranger }),
        transfer(61, payer, Sample.stranger, 9n),
        transfer(62, payer, wallet, 9n),
        transfer(63, payer, Sample.payTo, 0n),
        transfer(64, wallet, payer, 0n),
        ...Sample.cancelLogs(65)
      )
      assert.deepStrictEqual(yield* rail.transfers(token, 12n), {
        transfers: [
          { direction: "received", transaction: hash(12), block: 12n, wallet: payer, amount: 1n },
          { direction: "received", transaction: hash(80), block: 80n, wallet: payer, amount: 2n },
          { direction: "refunded", transaction: hash(80), block: 80n, wallet: payer, amount: 3n },
          { direction: "refunded", transaction: hash(95), block: 95n, wallet: payer, amount: 4n }
        ],
        nextBlock: null
      })
    })
  )

  it.effect("lists payments to former recipients, which were signed before a change of payTo", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* start({ formerPayTo: [Sample.stranger] })
      const logs = [Sample.payTo, Sample.stranger, wallet].map((to, place) => transfer(80 + place, payer, to, 1n))
      state.logs.push(...logs)
      const { transfers } = yield* rail.transfers(token, 0n)
      assert.deepStrictEqual(
        transfers.map(({ block, direction }) => [direction, block]),
        [
          ["received", 80n],
          ["received", 81n]
        ]
      )
    })
  )

  it.effect("lists a transfer of the refund wallet to us in both directions, and others once", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* start({ refund })
      state.logs.push(transfer(80, wallet, Sample.payTo, 5n), transfer(81, stranger, Sample.payTo, 6n))
      const { transfers } = yield* rail.transfers(token, 0n)
      assert.deepStrictEqual(
        transfers.map(({ amount, direction, ownWallet, wallet: other }) => [direction, other, amount, ownWallet]),
        [
          ["received", wallet, 5n, payTo],
          ["refunded", payTo, 5n, wallet],
          ["received", stranger, 6n, undefined]
        ]
      )
    })
  )

  it.effect("marks transfers to all our wallets of the network: former ones, and those of other tokens", () =>
    Effect.gen(function* () {
      const { build, configured, state } = yield* prepare({ refund: { ...refund, formerWallets: [ours(1)] } })
      const second = { asset: ours(9), payTo: ours(2), formerPayTo: [ours(3)] }
      const separator = domainSeparator(domainOf(yield* offer({ ...configured, ...second })))
      const decimals = numberToHex(configured.decimals, { size: 32 })
      state.contracts.set(second.asset, (data) => (data === toFunctionSelector("decimals()") ? decimals : separator))
      const rail = yield* build(configured, { ...configured, ...second })
      const recipients = [ours(1), ours(2), ours(3), stranger]
      state.logs.push(...recipients.map((to, place) => transfer(80 + place, wallet, to, 1n)))
      const { transfers } = yield* rail.transfers(token, 0n)
      assert.deepStrictEqual(
        transfers.map(({ ownWallet, wallet: other }) => [other, ownWallet]),
        [
          [ours(1), wallet],
          [ours(2), wallet],
          [ours(3), wallet],
          [stranger, undefined]
        ]
      )
    })
  )

  it.effect("lists no refunds if none are configured", () =>
    Effect.gen(function* () {
      const { asked, rail, state } = yield* start({ logBlocksMax: 1_000 })
      state.logs.push(transfer(80, payer, Sample.payTo, 2n), transfer(81, wallet, payer, 2n))
      const { transfers } = yield* rail.transfers(token, 0n)
      assert.deepStrictEqual(
        transfers.map(({ direction }) => direction),
        ["received"]
      )
      assert.strictEqual(asked(), 1)
    })
  )

  for (const other of [{}, { refund }]) {
    it.effect(`reads a long chain page by page, ${"refund" in other ? "with" : "without"} a refund wallet`, () =>
      Effect.gen(function* () {
        const { asked, rail, state } = yield* start({ logBlocksMax: 3, ...other })
        state.latest = 1_000
        const blocks = [5, 149, 150, 151, 299, 300, 301, 302, 303, 999, 1_000]
        state.logs.push(...blocks.map((block) => transfer(block, payer, Sample.payTo, 1n)))
        const found: Array<bigint> = []
        for (let from: bigint | null = 0n; from !== null;) {
          const before = asked()
          const page: { transfers: ReadonlyArray<{ block: bigint }>; nextBlock: bigint | null } = yield* rail.transfers(
            token,
            from
          )
          assert.isAtMost(asked() - before, LOG_QUESTIONS_MAX)
          found.push(...page.transfers.map(({ block }) => block))
          from = page.nextBlock
        }
        assert.deepStrictEqual(found.map(Number), blocks)
      })
    )
  }

  it.effect("ends a page that is full", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* start()
      const many = (block: number) =>
        Array.from({ length: PAGE_TRANSFERS_MAX }, (_, logIndex) =>
          transfer(block, payer, Sample.payTo, 1n, { logIndex })
        )
      state.logs.push(...many(5), ...many(25))
      const first = yield* rail.transfers(token, 0n)
      assert.deepStrictEqual([first.transfers.length, first.nextBlock], [PAGE_TRANSFERS_MAX, 10n])
      const second = yield* rail.transfers(token, 10n)
      assert.deepStrictEqual([second.transfers.length, second.nextBlock], [PAGE_TRANSFERS_MAX, 30n])
    })
  )

  it.effect("is empty beyond the newest block, and fails on a removed network or one that can't be reached", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* start()
      assert.deepStrictEqual(yield* rail.transfers(token, 101n), { transfers: [], nextBlock: null })
      const other = { ...token, network: "eip155:196" }
      assert.strictEqual((yield* Effect.flip(rail.transfers(other, 0n))).reason, "Misconfigured")
      state.status = 503
      assert.strictEqual((yield* Effect.flip(rail.transfers(token, 0n))).reason, "Temporary")
    })
  )
})

describe("PaymentRailX402.readTransfers", () => {
  it.effect(
    "returns the transfers of the token in a transaction, between any wallets, each with an id of its own",
    () =>
      Effect.gen(function* () {
        const { rail, state } = yield* start()
        state.logs.push(
          transfer(90, stranger, payer, 3n, { logIndex: 1 }),
          transfer(90, stranger, payer, 3n, { logIndex: 2 }),
          transfer(90, payer, Sample.payTo, 4n, { logIndex: 3 }),
          transfer(90, stranger, payer, 5n, { logIndex: 4, address: Sample.stranger })
        )
        const { isFinal, transfers } = Option.getOrThrow(yield* rail.readTransfers(token, hash(90)))
        assert.isTrue(isFinal)
        assert.deepStrictEqual(
          transfers.map(({ amount, from, to }) => [from, to, amount]),
          [
            [stranger, payer, 3n],
            [stranger, payer, 3n],
            [payer, Sample.payTo.toLowerCase(), 4n]
          ]
        )
        const ids = transfers.map(({ transferId }) => transferId)
        assert.strictEqual(new Set(ids).size, 3)
        for (const id of ids) assert.match(id, /^[0-9a-f]{64}$/)
      })
  )

  it.effect("says whether the block is final, and returns none while no block has the transaction", () =>
    Effect.gen(function* () {
      const { rail, state } = yield* start()
      assert.deepStrictEqual(yield* rail.readTransfers(token, hash(91)), Option.none())
      state.logs.push(transfer(91, stranger, payer, 3n))
      assert.isFalse(Option.getOrThrow(yield* rail.readTransfers(token, hash(91))).isFinal)
      state.finalized = { number: 91, timestamp: 2_000 }
      assert.isTrue(Option.getOrThrow(yield* rail.readTransfers(token, hash(91))).isFinal)
      state.status = 500
      assert.strictEqual((yield* Effect.flip(rail.readTransfers(token, hash(91)))).reason, "Temporary")
    })
  )
})
