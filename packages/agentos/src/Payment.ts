import { ConfigurationInvalid, PaymentRail, settingIssues, type SignInProtocol } from "@agentos/core"
import type { GasTransactionStore, NetworkConfig } from "@agentos/x402"
import type { ReferenceClock } from "@agentos/http-server"
import { Effect, Layer, Schema } from "effect"

/** How agents pay, and how a wallet proves that it is the tenant, as layers: what `x402(…)` returns. */
export interface Payment {
  readonly layer: Layer.Layer<PaymentRail | SignInProtocol, unknown, GasTransactionStore>
  /** The times of its chains. */
  readonly clocks?: Effect.Effect<ReadonlyArray<ReferenceClock>, unknown> | undefined
}

/** Warns once about networks without a refund wallet, where refunds can only be recorded. */
const warnOfMissingWallets = (networks: ReadonlyArray<NetworkConfig>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const rail = yield* PaymentRail
      const without = networks.filter((network) => !rail.canRefund(network)).map(({ network }) => network)
      if (without.length === 0) return
      yield* Effect.logWarning(
        `No refund wallet is configured on ${without.join(", ")}: refunds there are recorded as refund_due and not ` +
          'paid. Add "refund" to each network, with the private key of a wallet that holds the token.'
      )
    })
  )

/** The libraries of x402 take most of the memory of an AgentOS, so they are loaded when a rail is opened. */
const load = Effect.promise(() => import("@agentos/x402"))

/** Payments on networks whose configuration is decoded already. */
export const x402Networks = (networks: ReadonlyArray<NetworkConfig>): Payment => ({
  clocks: Effect.succeed(
    networks.map((network) => ({
      source: network.network,
      // A chain may make its next block much later.
      read: Effect.flatMap(load, ({ newestBlockTime }) =>
        Effect.map(newestBlockTime(network), (earliest) => ({ earliest, latest: undefined }))
      )
    }))
  ),
  layer: Layer.unwrap(
    Effect.map(load, ({ PaymentRailX402, railNetwork, SignInWithX }) =>
      Layer.mergeAll(
        Layer.provideMerge(
          warnOfMissingWallets(networks),
          PaymentRailX402.layer({ networks: networks.map(railNetwork) })
        ),
        SignInWithX.layer(
          networks.map(({ network }) => network),
          networks
        )
      )
    )
  )
})

/**
 * Payments by x402 version 2 in USDT. `networks` has the form that packages/site/content/payment-networks.md shows.
 * Opening it fails with `ConfigurationInvalid`, which names every invalid field.
 */
export const x402 = ({ networks }: { readonly networks: ReadonlyArray<unknown> }): Payment => {
  const configured = Effect.gen(function* () {
    const { Networks } = yield* load
    const decoded = yield* Effect.mapError(
      Schema.decodeUnknownEffect(Networks, { errors: "all", onExcessProperty: "error" })(networks),
      ({ issue }) => new ConfigurationInvalid({ issues: [...settingIssues("networks", issue)] })
    )
    return x402Networks(decoded)
  })
  return {
    clocks: Effect.flatMap(configured, ({ clocks }) => clocks ?? Effect.succeed([])),
    layer: Layer.unwrap(Effect.map(configured, ({ layer }) => layer))
  }
}
