import { type PaymentNetwork, PaymentNetworkConfig } from "@agentos/x402"
import { Schema, SchemaIssue } from "effect"
import type { EnvironmentReader } from "./EnvironmentReader.ts"

const decodeNetworks = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.NonEmptyArray(PaymentNetworkConfig)), {
  errors: "all",
  onExcessProperty: "error"
})

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** Reads the networks on which payments are accepted. */
export const readNetworks = (reader: EnvironmentReader): ReadonlyArray<PaymentNetwork> => {
  const text = reader.text("AGENTOS_NETWORKS")
  if (text === undefined) {
    reader.issues.push("AGENTOS_NETWORKS is missing: a JSON array of the networks on which payments are taken")
    return []
  }
  const decoded = decodeNetworks(text)
  if (decoded._tag === "Success") return decoded.success
  for (const { message, path = [] } of formatIssue(decoded.failure.issue).issues) {
    reader.issues.push(["AGENTOS_NETWORKS", ...path].map(String).join(".") + `: ${message}`)
  }
  return []
}
