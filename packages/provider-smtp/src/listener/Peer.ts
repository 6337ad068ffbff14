import { ClientAddress } from "@agentos/core"

/** The sender of a session, as limits count it: see `ClientAddress`. */
export interface Peer {
  readonly address: string
  readonly network: string
}

/** Reads the address that a socket reports. */
export const peerOf = (remoteAddress: string): Peer => ({
  address: ClientAddress.clientOf(remoteAddress),
  network: ClientAddress.networkOf(remoteAddress)
})
