import { type GasTransactionStore, selfFacilitator, SelfFacilitatorConfig } from "@agentos/facilitator"
import { FacilitatorConfig, httpFacilitator, PaymentNetwork, type PaymentRailX402, withPreset } from "@agentos/x402"
import { Schema, SchemaIssue } from "effect"
import type { EnvironmentReader } from "./EnvironmentReader.ts"

/** A network with the configuration of its facilitator. */
export const NetworkConfig = Schema.Struct({
  ...PaymentNetwork.fields,
  facilitator: Schema.Union([...FacilitatorConfig.members, SelfFacilitatorConfig])
})
export type NetworkConfig = typeof NetworkConfig.Type

const decodeNetworks = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.NonEmptyArray(withPreset(NetworkConfig))),
  { errors: "all", onExcessProperty: "error" }
)

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** Reads the networks on which payments are accepted. */
export const readNetworks = (reader: EnvironmentReader): ReadonlyArray<NetworkConfig> => {
  const text = reader.text("AGENTOS_NETWORKS")
  if (text === undefined) {
    reader.issues.push(
      "AGENTOS_NETWORKS is missing. Set it to a JSON array of the networks on which payments are accepted"
    )
    return []
  }
  const decoded = decodeNetworks(text)
  if (decoded._tag === "Success") return decoded.success
  for (const { message, path = [] } of formatIssue(decoded.failure.issue).issues) {
    reader.issues.push(["AGENTOS_NETWORKS", ...path].map(String).join(".") + `: ${message}`)
  }
  return []
}

/** Returns the network with the facilitator that its configuration selects. */
export const railNetwork = ({
  facilitator,
  ...network
}: NetworkConfig): PaymentRailX402.RailNetwork<GasTransactionStore> => ({
  ...network,
  facilitator: facilitator.kind === "self" ? selfFacilitator(facilitator) : httpFacilitator(facilitator)
})
