import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { EnvironmentReader } from "../../src/config/EnvironmentReader.ts"
import { readNetworks } from "../../src/config/NetworkConfig.ts"

const network = {
  preset: "celo",
  rpcUrl: "https://rpc.example/v2/an-access-key",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 120,
  confirmations: 1
}
const okx = { apiKey: "key", secretKey: "secret", passphrase: "passphrase" }
const privateKey = `0x${"11".repeat(32)}`

/** Reads a network with this facilitator. Returns its kind, and the problems. */
const read = (facilitator: unknown) => {
  const reader = new EnvironmentReader({ AGENTOS_NETWORKS: JSON.stringify([{ ...network, facilitator }]) })
  const [first] = readNetworks(reader)
  return { facilitator: first?.facilitator, issues: reader.issues }
}

/** Returns the problems of networks. */
const issuesOf = (value: unknown): ReadonlyArray<string> => {
  const reader = new EnvironmentReader({ AGENTOS_NETWORKS: typeof value === "string" ? value : JSON.stringify(value) })
  readNetworks(reader)
  return reader.issues
}

describe("readNetworks", () => {
  it("reports a token that is configured twice", () => {
    const one = { ...network, facilitator: { url: "https://a.test" } }
    assert.deepStrictEqual(
      issuesOf([one, { ...one, preset: "xLayer" }, { ...one, payTo: network.payTo.toLowerCase() }]),
      ["AGENTOS_NETWORKS.2 has the network and asset of AGENTOS_NETWORKS.0. Remove one"]
    )
  })

  it("reports each problem with its place in plain English", () => {
    const url = { facilitator: { url: "https://a.test" } }
    const wrong = { payTo: "0x12", confirmations: -1, colour: "red", rpcUrl: "rpc.example", maxTimeoutSeconds: "1" }
    const problems = [
      "AGENTOS_NETWORKS.0.colour is unknown",
      "AGENTOS_NETWORKS.0.rpcUrl must be an http or https URL",
      "AGENTOS_NETWORKS.0.payTo must be an EVM address, with a valid checksum if its case is mixed",
      "AGENTOS_NETWORKS.0.maxTimeoutSeconds must be a number",
      "AGENTOS_NETWORKS.0.confirmations must be between 0 and 10000",
      "AGENTOS_NETWORKS.0.facilitator is missing"
    ]
    assert.sameMembers([...issuesOf([{ ...network, ...wrong }])], problems)
    for (const [value, issue] of [
      ["{", "AGENTOS_NETWORKS must be JSON"],
      [{}, "AGENTOS_NETWORKS must be an array"],
      [["celo"], "AGENTOS_NETWORKS.0 must be an object"],
      [
        [{ ...network, ...url, preset: "Celo" }],
        "AGENTOS_NETWORKS.0 must have a preset of xLayer, celo, stable, plasma, flare, arbitrum, ethereum, bnb, polygon, optimism, avalanche, base, baseUsdc, ethereumUsdc, polygonUsdc, arbitrumUsdc, avalancheUsdc, optimismUsdc"
      ],
      [[{ ...network, ...url, decimals: 6 }], "AGENTOS_NETWORKS.0 must not set decimals, because the preset celo does"],
      ["", "AGENTOS_NETWORKS is missing. Set it to a JSON array of the networks on which payments are accepted"]
    ] as const) {
      assert.deepStrictEqual(issuesOf(value), [issue])
    }
  })

  it("distinguishes the kinds of facilitators, and treats one without a kind as the standard one", () => {
    assert.deepStrictEqual(read({ url: "https://a.test" }), { facilitator: { url: "https://a.test" }, issues: [] })
    assert.strictEqual(read({ kind: "http", url: "https://a.test" }).facilitator?.kind, "http")
    assert.strictEqual(read({ kind: "okx", ...okx }).facilitator?.kind, "okx")
    assert.strictEqual(read({ kind: "self", privateKey }).facilitator?.kind, "self")
    for (const wrong of [
      { kind: "okx", url: "https://a.test" },
      { kind: "self", url: "https://a.test" },
      { kind: "other", url: "https://a.test" },
      undefined
    ]) {
      const { facilitator, issues } = read(wrong)
      assert.isUndefined(facilitator)
      assert.isAbove(issues.length, 0)
      for (const issue of issues) assert.include(issue, "AGENTOS_NETWORKS.0.facilitator")
    }
  })

  it("reveals no secret of an invalid facilitator", () => {
    const secret = "c0ffee".repeat(11)
    for (const wrong of [
      { kind: "self", privateKey: `0x${secret}` },
      { kind: "self", privateKey: secret.slice(0, 64) },
      { kind: "self", privateKey: `0x${"0".repeat(64)}` },
      { kind: "okx", ...okx, apiKey: `c0ffee\n${secret}` }
    ]) {
      const { issues } = read(wrong)
      assert.isAbove(issues.length, 0)
      assert.notInclude(inspect(issues), "c0ffee")
    }
  })

  it("keeps the key of a gas wallet secret", () => {
    assert.notInclude(inspect(read({ kind: "self", privateKey }), { depth: 9 }), "1111")
  })
})
