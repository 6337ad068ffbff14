import { type GasTransactionStore, selfFacilitator, SelfFacilitatorConfig } from "@agentos/facilitator"
import { issuesOf, PaymentRail, type SignInProtocol } from "@agentos/core"
import {
  FacilitatorConfig,
  httpFacilitator,
  PaymentNetwork,
  PaymentRailX402,
  SignInWithX,
  withPreset
} from "@agentos/x402"
import { Effect, Layer, Result, Schema } from "effect"

/** A network on which payments are accepted, with the configuration of its facilitator. */
export const NetworkConfig = Schema.Struct({
  ...PaymentNetwork.fields,
  facilitator: Schema.Union([...FacilitatorConfig.members, SelfFacilitatorConfig])
})
export type NetworkConfig = typeof NetworkConfig.Type

/** The networks as an operator writes them: JSON, with the name of a preset instead of a token's fields. */
export const Networks = Schema.NonEmptyArray(withPreset(NetworkConfig))

/** How agents pay, and how a wallet proves that it is the tenant: `x402(…)` or a rail of the host's own. */
export interface Payment {
  readonly layer: Layer.Layer<PaymentRail | SignInProtocol, unknown, GasTransactionStore>
}

const railNetwork = ({ facilitator, ...network }: NetworkConfig): PaymentRailX402.RailNetwork<GasTransactionStore> => ({
  ...network,
  facilitator: facilitator.kind === "self" ? selfFacilitator(facilitator) : httpFacilitator(facilitator)
})

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

/** Payments on decoded networks. */
export const x402Networks = (networks: ReadonlyArray<NetworkConfig>): Payment => ({
  layer: Layer.mergeAll(
    Layer.provideMerge(warnOfMissingWallets(networks), PaymentRailX402.layer({ networks: networks.map(railNetwork) })),
    SignInWithX.layer(networks.map(({ network }) => network))
  )
})

const decode = Schema.decodeUnknownResult(Networks, { errors: "all", onExcessProperty: "error" })

/**
 * Payments by x402 version 2 in USDT. `networks` has the form of AGENTOS_NETWORKS (docs/payment-networks.md). Throws a
 * TypeError that names every invalid field.
 */
export const x402 = ({ networks }: { readonly networks: typeof Networks.Encoded }): Payment => {
  const decoded = decode(networks)
  if (Result.isSuccess(decoded)) return x402Networks(decoded.success)
  const issues = issuesOf(decoded.failure.issue).map(({ message, path }) => `networks.${path} ${message}`)
  throw new TypeError(`x402: ${issues.join("; ")}`)
}
