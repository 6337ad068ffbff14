import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { DEFAULT_ASSETS } from "@x402/evm"
import { Effect, Redacted, Result, Schema, SchemaIssue } from "effect"
import { privateKeyToAddress } from "viem/accounts"
import { TOKEN_PRESETS, withPreset } from "../../src/index.ts"
import { offer, PaymentNetwork } from "../../src/network/PaymentNetwork.ts"
import { unreachableUrl } from "../support/HttpFake.ts"
import * as Sample from "../support/Sample.ts"

const decode = Schema.decodeUnknownResult(withPreset(PaymentNetwork), { errors: "all", onExcessProperty: "error" })
const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** The fields of a network that an operator configures beside its token. */
const own = {
  rpcUrl: "https://rpc.example/v2/an-access-key",
  payTo: Sample.payTo,
  maxTimeoutSeconds: 120,
  confirmations: 1
}
const token = { network: "eip155:402402", asset: Sample.asset, decimals: 6, name: "USD₮0", version: "1" } as const
const key = `0x${"7b".repeat(32)}` as const

/** Returns the errors of an invalid configuration: path and message of each issue. */
const refused = (config: unknown): string =>
  Result.match(decode(config), {
    onSuccess: () => "",
    onFailure: ({ issue }) =>
      formatIssue(issue)
        .issues.map(({ message, path = [] }) => `${path.map(String).join(".")}: ${message}`)
        .join("\n")
  })

describe("withPreset", () => {
  it("replaces a preset's name with its token", () => {
    for (const [preset, expected] of Object.entries(TOKEN_PRESETS)) {
      const network = Result.getOrThrow(decode({ ...own, preset }))
      assert.deepStrictEqual(network, { ...own, ...expected, rpcUrl: network.rpcUrl })
      assert.strictEqual(Redacted.value(network.rpcUrl), own.rpcUrl)
    }
  })

  it("accepts a complete network", () => {
    const network = Result.getOrThrow(decode({ ...own, ...token }))
    assert.deepStrictEqual(network, { ...own, ...token, rpcUrl: network.rpcUrl })
  })

  it("rejects an unknown preset, and a field that is given twice", () => {
    for (const preset of ["xlayer", "toString", 7, null]) {
      assert.strictEqual(
        refused({ ...own, preset }),
        ": must have a preset of xLayer, celo, stable, plasma, flare, arbitrum, ethereum, bnb, polygon, optimism, avalanche, base, baseUsdc, ethereumUsdc, polygonUsdc, arbitrumUsdc, avalancheUsdc, optimismUsdc",
        String(preset)
      )
    }
    assert.strictEqual(
      refused({ ...own, preset: "celo", asset: Sample.asset, version: "2" }),
      ": must not set asset, version, because the preset celo does"
    )
  })

  it("lets an operator decide about smart accounts, whatever the preset says", () => {
    for (const preset of ["celo", "flare"] as const) {
      for (const smartAccounts of [true, false]) {
        assert.strictEqual(Result.getOrThrow(decode({ ...own, preset, smartAccounts })).smartAccounts, smartAccounts)
      }
    }
  })

  it("reports the path of an error, with a preset or without", () => {
    assert.include(refused({ ...own, preset: "celo", payTo: "0x12" }), "payTo: ")
    assert.include(refused({ ...own, preset: "celo", confirmation: 3 }), "confirmation: ")
    assert.include(refused({ ...own, ...token, decimals: 2 }), "decimals: ")
    assert.include(refused(own), "network: ")
    for (const nothing of [null, 7, "celo", []]) assert.notStrictEqual(refused(nothing), "")
  })

  it("has presets that agree with the stock library about the same tokens", () => {
    const usdc = ["baseUsdc", "ethereumUsdc", "polygonUsdc", "arbitrumUsdc", "avalancheUsdc"] as const
    for (const preset of ["celo", "stable", "flare", ...usdc] as const) {
      const { network, smartAccounts: _, ...known } = { smartAccounts: false, ...TOKEN_PRESETS[preset] }
      const found = DEFAULT_ASSETS[network]?.find((candidate) => candidate.asset === known.asset)
      assert.deepInclude(found, known)
    }
  })
})

describe("A refund wallet's configuration", () => {
  const withRefund = (refund: unknown) => ({ ...own, ...token, refund })

  it("keeps the key secret", () => {
    const network = Result.getOrThrow(decode(withRefund({ privateKey: key })))
    assert.notInclude(JSON.stringify(network), "7b7b")
    const wrong = ["", "0x", key.slice(0, -1), `${key}0`, key.replace("0x", ""), `${key.slice(0, -1)}g`, [key], { key }]
    const noKeys = [`0x${"0".repeat(64)}`, `0x${"f".repeat(64)}`]
    for (const privateKey of [...wrong, ...noKeys]) {
      const message = refused(withRefund({ privateKey }))
      assert.include(message, "refund.privateKey")
      assert.notInclude(message, "7b7b")
      assert.notInclude(message, "ffff")
    }
  })

  it.effect("requires an account of its own", () =>
    Effect.gen(function* () {
      const configured = (refund: object, payTo: string = Sample.payTo) =>
        offer(Result.getOrThrow(decode({ ...withRefund(refund), payTo })))
      const address = privateKeyToAddress(key)
      const { refundWallets } = yield* configured({ privateKey: key, formerWallets: [Sample.stranger] })
      assert.deepStrictEqual<ReadonlyArray<string>>(refundWallets, [
        address.toLowerCase(),
        Sample.stranger.toLowerCase()
      ])
      const same = [
        configured({ privateKey: key }, address),
        configured({ privateKey: key }, address.toLowerCase()),
        configured({ privateKey: key, formerWallets: [Sample.payTo.toLowerCase()] })
      ]
      for (const attempt of same) {
        const error = yield* Effect.flip(attempt)
        assert.strictEqual(error.reason, "Misconfigured")
        assert.include(error.message, "a refund wallet is payTo")
      }
      const former = { ...withRefund({ privateKey: key }), formerPayTo: [address] }
      assert.include(
        (yield* Effect.flip(offer(Result.getOrThrow(decode(former))))).message,
        "a refund wallet is a former payTo"
      )
      assert.include(
        (yield* Effect.flip(configured({ privateKey: key, formerWallets: [Sample.asset] }))).message,
        "the token's own contract"
      )
      assert.deepStrictEqual((yield* offer(Result.getOrThrow(decode({ ...own, ...token })))).refundWallets, [])
      const unchecked = Sample.network(own.rpcUrl, unreachableUrl, {
        refund: { privateKey: Redacted.make(`${key}7b` as const) }
      })
      const error = yield* Effect.flip(offer(unchecked))
      assert.strictEqual(error.reason, "Misconfigured")
      assert.notInclude(inspect(error, { depth: 9, showHidden: true }), "7b7b")
    })
  )
})
