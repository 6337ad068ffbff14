import { type NetworkConfig, Networks } from "@agentos/facilitator"
import { Option } from "effect"
import type { EnvironmentReader } from "./EnvironmentReader.ts"

/** Reads the networks on which payments are accepted. */
export const readNetworks = (reader: EnvironmentReader): ReadonlyArray<NetworkConfig> => {
  reader.required("AGENTOS_NETWORKS")
  return Option.getOrElse(reader.json("AGENTOS_NETWORKS", Networks), () => [])
}
