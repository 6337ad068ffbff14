import { type GasTransactionStore, selfFacilitator, SelfFacilitatorConfig } from "@agentos/facilitator"
import { FacilitatorConfig, httpFacilitator, PaymentNetwork, type PaymentRailX402, withPreset } from "@agentos/x402"
import { Option, Schema } from "effect"
import type { EnvironmentReader } from "./EnvironmentReader.ts"

/** A network with the configuration of its facilitator. */
export const NetworkConfig = Schema.Struct({
  ...PaymentNetwork.fields,
  facilitator: Schema.Union([...FacilitatorConfig.members, SelfFacilitatorConfig])
})
export type NetworkConfig = typeof NetworkConfig.Type

const Networks = Schema.NonEmptyArray(withPreset(NetworkConfig))

/** Reads the networks on which payments are accepted. */
export const readNetworks = (reader: EnvironmentReader): ReadonlyArray<NetworkConfig> => {
  reader.required("AGENTOS_NETWORKS", "a JSON array of the networks on which payments are accepted")
  return Option.getOrElse(reader.json("AGENTOS_NETWORKS", Networks), () => [])
}

/** Returns the network with the facilitator that its configuration selects. */
export const railNetwork = ({
  facilitator,
  ...network
}: NetworkConfig): PaymentRailX402.RailNetwork<GasTransactionStore> => ({
  ...network,
  facilitator: facilitator.kind === "self" ? selfFacilitator(facilitator) : httpFacilitator(facilitator)
})
