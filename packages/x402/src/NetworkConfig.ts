import type { ProviderError } from "@agentos/core"
import type * as PaymentRailX402 from "./PaymentRailX402.ts"
import { FacilitatorConfig } from "./facilitator/Facilitator.ts"
import { facilitatorCheck, type NetworkChecks, networkChecks } from "./NetworkCheck.ts"
import { httpFacilitator } from "./facilitator/HttpFacilitator.ts"
import { PaymentNetwork } from "./network/PaymentNetwork.ts"
import { withPreset } from "./network/PaymentNetworkConfig.ts"
import { Effect, Schema } from "effect"
import type { GasTransactionStore } from "./self/GasTransactionStore.ts"
import { checkGasWallet, selfFacilitator } from "./self/SelfFacilitator.ts"
import { SelfFacilitatorConfig } from "./self/SelfFacilitatorConfig.ts"

/** A network on which payments are accepted, with the configuration of any kind of facilitator. */
export const NetworkConfig = Schema.Struct({
  ...PaymentNetwork.fields,
  facilitator: Schema.Union([...FacilitatorConfig.members, SelfFacilitatorConfig])
})
export type NetworkConfig = typeof NetworkConfig.Type

/** Networks as an operator writes them: JSON, in which the name of a preset may replace a token's fields. */
export const Networks = Schema.NonEmptyArray(withPreset(NetworkConfig))

/** Returns the network with the facilitator that its configuration selects. */
export const railNetwork = ({
  facilitator,
  ...network
}: NetworkConfig): PaymentRailX402.RailNetwork<GasTransactionStore> => ({
  ...network,
  facilitator: facilitator.kind === "self" ? selfFacilitator(facilitator) : httpFacilitator(facilitator)
})

/** Makes the checks of a network and of the facilitator that its configuration selects. */
export const configuredChecks = ({
  facilitator,
  ...network
}: NetworkConfig): Effect.Effect<NetworkChecks, ProviderError> =>
  networkChecks(network, (offered) =>
    facilitator.kind === "self"
      ? checkGasWallet(offered, facilitator)
      : Effect.scoped(
          Effect.flatMap(httpFacilitator(facilitator)(offered), (client) => facilitatorCheck(offered, client))
        )
  )
