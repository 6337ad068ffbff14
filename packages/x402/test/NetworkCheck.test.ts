import type { ProviderError } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger, Redacted, References } from "effect"
import { TestClock } from "effect/testing"
import { getAddress } from "viem"
import { httpFacilitator, type PaymentRailX402, TOKEN_PRESETS } from "../src/index.ts"
import { offer } from "../src/network/PaymentNetwork.ts"
import { unreachableUrl, sendJson } from "./support/HttpFake.ts"
import { prepare } from "./support/RailFake.ts"
import { privateKey, wallet } from "./support/RefundFake.ts"
import * as Sample from "./support/Sample.ts"

describe("PaymentRailX402.layer", () => {
  const refuses = (
    other: Partial<PaymentRailX402.RailNetwork>,
    message: string,
    reason: ProviderError["reason"] = "Misconfigured"
  ) =>
    Effect.gen(function* () {
      const { build, configured } = yield* prepare(other)
      const error = yield* Effect.flip(build(configured))
      assert.strictEqual(error.reason, reason)
      assert.include(error.message, message)
    })

  const wrong: ReadonlyArray<readonly [what: string, other: Partial<PaymentRailX402.RailNetwork>, message: string]> = [
    [
      "the domain's name in plain letters",
      { name: "USDT0" },
      'name "USDT0" and version "1" do not match the EIP-712 domain of 0x'
    ],
    ["another version of the domain", { version: "2" }, 'name "USD₮0" and version "2"'],
    ["another token", { asset: Sample.stranger }, "the EIP-712 domain of 0x2096"],
    ["another chain", { network: "eip155:196" }, "rpcUrl leads to chain 402402"],
    ["other decimals", { decimals: 18 }, "the token has 6 decimals, not 18"],
    ["another symbol", { symbol: "USDC" }, 'the token has the symbol "USD₮0", not "USDC"'],
    ["fewer decimals than prices have", { decimals: 5 }, "decimals"],
    ["a network that is no EVM chain", { network: "solana:mainnet" }, "network"],
    ["an address with a wrong checksum", { payTo: Sample.payTo.replace("E", "e") }, "payTo"],
    ["an address that is too short", { payTo: Sample.payTo.slice(0, -1) }, "payTo"],
    ["payments to the token itself", { payTo: Sample.asset.toLowerCase() }, "payTo is the token's own contract"],
    ["authorizations that are over at once", { maxTimeoutSeconds: 10 }, "maxTimeoutSeconds"],
    [
      "factories without smart accounts",
      { smartAccountFactories: [Sample.stranger] },
      "smartAccountFactories requires smartAccounts to be true"
    ],
    [
      "a factory that does not exist",
      { smartAccounts: true, smartAccountFactories: [Sample.stranger] },
      `requires a contract at ${Sample.stranger.toLowerCase()}, which has no code`
    ]
  ]
  it.effect.each(wrong)("refuses %s", ([, other, message]) => refuses(other, message))

  it.effect(
    "refuses a contract that is not a token, a facilitator without the network, and a network given twice",
    () =>
      Effect.gen(function* () {
        const { build, configured, state } = yield* prepare()
        const message = (...networks: ReadonlyArray<PaymentRailX402.RailNetwork>) =>
          Effect.map(Effect.flip(build(...networks)), (error) => error.message)
        state.hasContract = false
        assert.include(yield* message(configured), "is not a token with decimals")
        state.hasContract = true
        assert.include(yield* message(configured, { ...configured, asset: configured.asset.toLowerCase() }), "twice")
        assert.include(yield* message(), "No payment network is configured")
        const other = yield* prepare({}, (_request, response) => sendJson(response, { kinds: [] }))
        assert.include(
          (yield* Effect.flip(other.build(other.configured))).message,
          "its facilitator does not support scheme exact"
        )
      })
  )

  it.effect("refuses smart accounts for a token that takes no signature bytes", () =>
    Effect.gen(function* () {
      const { build, configured, state } = yield* prepare({ smartAccounts: true })
      yield* build(configured)
      state.takesBytes = false
      const error = yield* Effect.flip(build(configured))
      assert.strictEqual(error.reason, "Misconfigured")
      assert.include(error.message, "no transferWithAuthorization that takes the signature as bytes")
      yield* build({ ...configured, smartAccounts: false })
    })
  )

  it.live("retries while a chain is starting", () =>
    Effect.gen(function* () {
      const { build, chainSeen, configured, state } = yield* prepare()
      state.status = 503
      const building = yield* Effect.forkScoped(build(configured))
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => chainSeen.length > 0 })
      state.status = 200
      yield* Fiber.join(building)
    })
  )

  /** Skips the delays between retries; the requests themselves take their time. */
  const hurry = Effect.forkScoped(
    Effect.forever(Effect.andThen(TestClock.withLive(Effect.sleep("5 millis")), TestClock.adjust("1 second")))
  )

  it.effect("fails after a limited number of retries", () =>
    Effect.gen(function* () {
      const { build, configured, state } = yield* prepare({ rpcTimeoutMillis: 60_000 })
      state.status = 503
      yield* hurry
      assert.strictEqual((yield* Effect.flip(build(configured))).reason, "Temporary")
    })
  )

  it.effect("starts without its facilitator; its silence leaves a settlement unknown", () =>
    Effect.gen(function* () {
      const { build, configured } = yield* prepare({ rpcTimeoutMillis: 60_000 })
      yield* hurry
      const rail = yield* build({ ...configured, facilitator: httpFacilitator({ url: unreachableUrl }) })
      const proof = Sample.unsignedProof({ validBefore: Math.floor((yield* Clock.currentTimeMillis) / 1_000) + 100 })
      assert.strictEqual((yield* rail.settle(proof, Sample.terms()))._tag, "Unknown")
    }).pipe(Effect.provideService(References.MinimumLogLevel, "Error"))
  )

  it.effect("warns at startup that a refund wallet is empty", () =>
    Effect.gen(function* () {
      const said: Array<unknown> = []
      const logger = Logger.make(({ message }) => said.push(message))
      const { build, configured, state } = yield* prepare({ refund: { privateKey: Redacted.make(privateKey) } })
      const started = Effect.provide(build(configured), Logger.layer([logger]))
      yield* started
      assert.deepStrictEqual(said, [
        [`Payment network eip155:402402: the refund wallet ${wallet} is empty, so no refund can be paid.`]
      ])
      state.balances.set(wallet, 1n)
      yield* started
      assert.strictEqual(said.length, 1)
    })
  )

  it.effect("has presets whose addresses have valid checksums", () =>
    Effect.gen(function* () {
      for (const preset of Object.values(TOKEN_PRESETS)) {
        assert.strictEqual(getAddress(preset.asset), preset.asset)
        const { version: _, ...own } = Sample.network(unreachableUrl, unreachableUrl)
        const offered = yield* offer({ ...own, ...preset })
        assert.strictEqual(offered.unitsPerPriceUnit, preset === TOKEN_PRESETS.bnb ? 10n ** 12n : 1n)
      }
    })
  )
})
