import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { x402 } from "../src/Payment.ts"

const network = {
  preset: "xLayer",
  rpcUrl: "https://rpc.example",
  payTo: "0x0000000000000000000000000000000000000001",
  maxTimeoutSeconds: 120,
  confirmations: 1,
  facilitator: { url: "https://facilitator.example" }
}

it.effect("a host's payments by x402 name the clock of each chain", () =>
  Effect.gen(function* () {
    const clocks = yield* x402({ networks: [network] }).clocks ?? Effect.succeed([])
    assert.deepStrictEqual(
      clocks.map(({ source }) => source),
      ["eip155:196"]
    )
  })
)

it.effect("a host's payments by x402 fail and name the invalid setting of a network", () =>
  Effect.gen(function* () {
    const clocks = x402({ networks: [{ ...network, payTo: "nobody" }] }).clocks ?? Effect.succeed([])
    assert.include(String(yield* Effect.flip(clocks)), "payTo")
  })
)
