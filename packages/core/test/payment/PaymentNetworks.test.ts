import {
  PaymentNetworks,
  PaymentRail,
  type PaymentTerms,
  ProviderError,
  Timestamp,
  type Token,
  walletAddress
} from "@agentos/core"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { setBack } from "../support/SetBackClock.ts"

const WALLET = walletAddress(`0x${"A1".repeat(20)}`)

const termsOn = (network: string, extra: PaymentTerms["extra"]): PaymentTerms => ({
  scheme: "exact",
  network,
  asset: `0x${"5".repeat(40)}`,
  amount: 1n,
  payTo: `0x${"7".repeat(40)}`,
  maxTimeoutSeconds: 60,
  extra
})

const TERMS = [
  termsOn("eip155:1", { name: "USDT0", assetTransferMethod: "eip3009", decimals: 6 }),
  termsOn("eip155:2", { name: "Tether USD", assetTransferMethod: "permit2", decimals: 18 }),
  termsOn("credits:house", {}),
  termsOn("eip155:3", { symbol: "USDC", assetTransferMethod: "permit2", gasSponsoring: "eip2612" })
]

/** Lists networks on chains that answer as `read` does. Counts the reads. */
const networksOn = (read: PaymentRail["Service"]["readFunds"]) => {
  const reads: Array<string> = []
  const rail = PaymentRail.of({
    ...ScriptedRail.make().rail,
    terms: () => TERMS,
    readFunds: (token, wallet) => {
      reads.push(`${token.network} ${wallet}`)
      return read(token, wallet)
    }
  })
  const provided = Effect.provide(
    PaymentNetworks,
    Layer.provide(PaymentNetworks.layer, Layer.succeed(PaymentRail, rail))
  )
  return { reads, networks: provided }
}

const funds = ({ network }: Token) =>
  network === "eip155:1"
    ? { balance: 4_750_000n, allowance: null }
    : network === "eip155:2"
      ? { balance: 12_500_000_999_999_999_999n, allowance: 250_000_000_000_000_000n }
      : network === "eip155:3"
        ? { balance: 1n, allowance: 0n, permitNonce: 7n }
        : { balance: null, allowance: null }

describe("PaymentNetworks", () => {
  it.effect("lists the networks in the server's order, and reads no chain without a wallet", () =>
    Effect.gen(function* () {
      const { networks, reads } = networksOn((token) => Effect.succeed(funds(token)))
      const [first, second, third] = yield* (yield* networks).list(undefined)
      const { asset, payTo } = TERMS[0]!
      const common = { asset, payTo }
      const methods = { transferMethod: "eip3009", decimals: 6 }
      assert.deepStrictEqual(first, { network: "eip155:1", name: "USDT0", symbol: "USDT", ...methods, ...common })
      assert.deepInclude(second, { network: "eip155:2", transferMethod: "permit2", decimals: 18 })
      assert.deepInclude(third, { network: "credits:house", name: null, transferMethod: null, decimals: 6 })
      assert.deepStrictEqual(reads, [])
    })
  )

  it.effect("shows the funds of a wallet, in base units and rounded down as decimal", () =>
    Effect.gen(function* () {
      const { networks } = networksOn((token) => Effect.succeed(funds(token)))
      const [first, second, third, fourth] = yield* (yield* networks).list(WALLET)
      assert.deepInclude(first, { balance: { amount: "4.75", baseUnits: "4750000" }, allowance: null })
      assert.notProperty(first, "reason")
      assert.deepInclude(second, {
        balance: { amount: "12.50", baseUnits: "12500000999999999999" },
        allowance: { amount: "0.25", baseUnits: "250000000000000000" }
      })
      const reason = "The payment rail of this server does not read balances."
      assert.deepInclude(third, { balance: null, allowance: null, reason })
      assert.deepStrictEqual([first?.permitNonce, fourth?.permitNonce, fourth?.symbol], [null, "7", "USDC"])
    })
  )

  it.effect("gives a reason, and no amount, for a chain that fails or is silent", () =>
    Effect.gen(function* () {
      const message = "The chain eip155:2 could not be read."
      const { networks } = networksOn((token) =>
        token.network === "eip155:2"
          ? Effect.fail(new ProviderError({ provider: "x402", reason: "Temporary", message }))
          : token.network === "eip155:1"
            ? Effect.never
            : Effect.succeed(funds(token))
      )
      const listing = yield* Effect.forkChild((yield* networks).list(WALLET))
      yield* TestClock.adjust("5 seconds")
      const [first, second] = yield* Fiber.join(listing)
      const silent = "eip155:1 could not be read within 5 seconds."
      assert.deepInclude(first, { balance: null, allowance: null, reason: silent })
      assert.deepInclude(second, { balance: null, allowance: null, reason: message })
    })
  )

  it.effect("reads each chain once a second for a wallet, also if it fails, unless its token takes permits", () =>
    Effect.gen(function* () {
      const failed = new ProviderError({ provider: "x402", reason: "Temporary", message: "down" })
      const { networks, reads } = networksOn((token) =>
        token.network === "eip155:1" ? Effect.fail(failed) : Effect.succeed(funds(token))
      )
      const { list } = yield* networks
      yield* Effect.all([list(WALLET), list(WALLET)], { concurrency: 2 })
      yield* list(WALLET)
      assert.lengthOf(reads, 6)
      yield* list(walletAddress(`0x${"b2".repeat(20)}`))
      assert.lengthOf(reads, 10)
      yield* TestClock.adjust("1 second")
      yield* list(WALLET)
      assert.lengthOf(reads, 14)
    })
  )

  it.effect("reads each chain again after a second also if the time of day is set back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Timestamp.DAY)
      const { networks, reads } = networksOn((token) => Effect.succeed(funds(token)))
      const { list } = yield* networks
      yield* list(WALLET)
      const known = reads.length
      yield* Effect.provideService(list(WALLET), Clock.Clock, yield* setBack("1 second"))
      assert.lengthOf(reads, 2 * known)
    })
  )
})
