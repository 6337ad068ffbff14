import { ClientAddress } from "@agentos/core"

/** The sender of a session, as the limits count it: see `ClientAddress`. */
export interface Peer {
  readonly address: string
  readonly network: string
}

/** Makes a peer from the address that a socket reports. */
export const peerOf = (remoteAddress: string): Peer => ({
  address: ClientAddress.clientOf(remoteAddress),
  network: ClientAddress.networkOf(remoteAddress)
})
