import { type NetworkConfig, Networks } from "@agentos/x402"
import { Option } from "effect"
import type { EnvironmentReader } from "./EnvironmentReader.ts"

const tokenOf = ({ asset, network }: NetworkConfig): string => `${network} ${asset.toLowerCase()}`

/** Reads the networks on which payments are accepted. Each token of a network is accepted once. */
export const readNetworks = (reader: EnvironmentReader): ReadonlyArray<NetworkConfig> => {
  reader.required("AGENTOS_NETWORKS")
  const networks = Option.getOrElse(reader.json("AGENTOS_NETWORKS", Networks), () => [])
  networks.forEach((network, index) => {
    const first = networks.findIndex((other) => tokenOf(other) === tokenOf(network))
    if (first < index)
      reader.issues.push(`AGENTOS_NETWORKS.${index} has the network and asset of AGENTOS_NETWORKS.${first}. Remove one`)
  })
  return networks
}
