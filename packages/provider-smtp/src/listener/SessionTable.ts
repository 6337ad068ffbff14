import { addToCount, ClientAddress } from "@agentos/core"

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

export interface SessionTableLimits {
  readonly connections: number
  readonly connectionsPerAddress: number
  readonly connectionsPerNetwork: number
  /** The last places, which only networks with few sessions may use. */
  readonly connectionsReserved: number
}

/** A network with fewer sessions than this may use the reserved places. */
const FEW_SESSIONS = 4

/** Counts the open sessions of each address and network, so that a few of them cannot take every place. */
export class SessionTable {
  readonly #limits: SessionTableLimits
  readonly #byAddress = new Map<string, number>()
  readonly #byNetwork = new Map<string, number>()
  #total = 0

  constructor(limits: SessionTableLimits) {
    this.#limits = limits
  }

  /** Adds a session of the peer, or returns false if the peer may not open another one now. */
  enter({ address, network }: Peer): boolean {
    const { connections, connectionsPerAddress, connectionsPerNetwork, connectionsReserved } = this.#limits
    const ofAddress = this.#byAddress.get(address) ?? 0
    const ofNetwork = this.#byNetwork.get(network) ?? 0
    const open = ofNetwork < FEW_SESSIONS ? connections : connections - connectionsReserved
    if (this.#total >= open || ofAddress >= connectionsPerAddress || ofNetwork >= connectionsPerNetwork) return false
    this.#total++
    addToCount(this.#byAddress, address, 1)
    addToCount(this.#byNetwork, network, 1)
    return true
  }

  leave({ address, network }: Peer): void {
    this.#total--
    addToCount(this.#byAddress, address, -1)
    addToCount(this.#byNetwork, network, -1)
  }
}
