import { Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { BROADCAST_MAX, CLOSE_MAX, type GasRound, plan } from "../../src/self/GasRound.ts"
import type { GasTransaction } from "../../src/self/GasTransactionStore.ts"

const at = (second: number) => Timestamp.Timestamp.make(second * Timestamp.SECOND)

const transaction = (accountNonce: number, signedAt = at(100)): GasTransaction => ({
  wallet: { network: "eip155:402402", address: `0x${"a".repeat(40)}` },
  accountNonce,
  reference: `transfer ${accountNonce}`,
  versions: [{ hash: `0x${accountNonce}`, bytes: "0x02" }],
  createdAt: signedAt,
  signedAt
})
const nonces = (transactions: ReadonlyArray<GasTransaction>) => transactions.map(({ accountNonce }) => accountNonce)
const from = (first: number, count: number) => Array.from({ length: count }, (_, index) => transaction(first + index))

/** A round ten seconds after the open transactions were signed. */
const round = (other: Partial<GasRound>): GasRound => ({
  taken: 5,
  final: 3,
  open: from(3, 4),
  isFull: false,
  now: at(110),
  blockAt: at(109),
  repriceAfterMillis: 15_000,
  ...other
})

describe("plan", () => {
  it("broadcasts again transactions that no block contains, oldest first", () => {
    const { close, foreign, gap, stuck, waiting } = plan(round({}))
    assert.deepStrictEqual(nonces(waiting), [5, 6])
    assert.deepStrictEqual([close, stuck, foreign, gap], [[], [], [], undefined])
  })

  it("leaves a young transaction to the server that opened it", () => {
    assert.deepStrictEqual(nonces(plan(round({ now: at(101) })).waiting), [])
    assert.deepStrictEqual(nonces(plan(round({ now: at(102) })).waiting), [5, 6])
  })

  it("treats a transaction as stuck that blocks could have included for too long", () => {
    const { stuck, waiting } = plan(round({ now: at(116), blockAt: at(116) }))
    assert.deepStrictEqual(nonces(stuck), [5, 6])
    assert.deepStrictEqual(nonces(waiting), [])
    assert.deepStrictEqual(nonces(plan(round({ now: at(115) })).stuck), [])
  })

  it("does not raise the price on a chain that makes no blocks, and keeps broadcasting", () => {
    const { stuck, waiting } = plan(round({ now: at(500), blockAt: at(100) }))
    assert.deepStrictEqual(nonces(stuck), [])
    assert.deepStrictEqual(nonces(waiting), [5, 6])
  })

  it("closes final transactions, and none that a reorganization could remove", () => {
    assert.deepStrictEqual(nonces(plan(round({ final: 3 })).close), [])
    assert.deepStrictEqual(nonces(plan(round({ final: 4 })).close), [3])
    assert.deepStrictEqual(nonces(plan(round({ final: 5 })).close), [3, 4])
  })

  it("broadcasts again a transaction that a reorganization removed", () => {
    assert.deepStrictEqual(nonces(plan(round({ taken: 4 })).waiting), [4, 5, 6])
  })

  it("closes the oldest early if they hide those that wait behind them", () => {
    const full = { open: from(3, 300), isFull: true, taken: 303, final: 3 }
    assert.deepStrictEqual(nonces(plan(round(full)).close), nonces(from(3, CLOSE_MAX)))
    assert.deepStrictEqual(nonces(plan(round({ ...full, taken: 302 })).close), [], "one that waits is in sight")
    assert.deepStrictEqual(plan(round(full)).foreign, [])
  })

  it("limits the work of a round", () => {
    const { waiting } = plan(round({ open: from(5, 200) }))
    assert.deepStrictEqual(nonces(waiting), nonces(from(5, BROADCAST_MAX)))
    assert.lengthOf(plan(round({ open: from(5, 200), now: at(200), blockAt: at(200) })).stuck, 8)
  })

  it("finds account nonces that another sender used", () => {
    assert.deepStrictEqual(plan(round({ open: [transaction(4)] })).foreign, [3])
    assert.deepStrictEqual(plan(round({ open: [transaction(9)], taken: 5, final: 3 })).foreign, [3, 4])
    assert.deepStrictEqual(plan(round({ open: [transaction(4)], final: 4 })).foreign, [], "long ago")
  })

  it("finds the account nonce that all wait for and that has no transaction", () => {
    assert.strictEqual(plan(round({ open: [transaction(4), transaction(7)] })).gap, 5)
    assert.isUndefined(plan(round({ open: [transaction(4)] })).gap)
  })
})
