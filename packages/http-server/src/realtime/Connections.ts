import { ClientAddress } from "@agentos/core"
import { CLOSE, type RealtimeConnection } from "./RealtimeConnection.ts"

/** Each connection is pinged once per this number of turns, so that never all connections are pinged at once. */
const TURNS = 20

/** Number of `expire` calls before an unauthenticated connection is closed. */
const SWEEPS_BEFORE_EXPIRY = 20

/** Every accepted socket, authenticated or not. One sweep serves all of them: no socket has its own timer. */
export class Connections {
  readonly #turns = Array.from({ length: TURNS }, () => new Set<RealtimeConnection>())
  readonly #turnOf = new Map<RealtimeConnection, number>()
  /** Unauthenticated connections, oldest first, with the sweep in which each is closed. */
  readonly #unauthenticated = new Map<RealtimeConnection, number>()
  readonly #unauthenticatedByClient = new Map<string, number>()
  #accepted = 0
  #turn = 0
  #sweep = 0

  /** The number of unauthenticated connections. */
  get unauthenticatedCount(): number {
    return this.#unauthenticated.size
  }

  /** Returns the number of unauthenticated connections from the client at an address. */
  unauthenticatedFrom(address: string): number {
    return this.#unauthenticatedByClient.get(ClientAddress.clientOf(address)) ?? 0
  }

  get size(): number {
    return this.#turnOf.size
  }

  add(connection: RealtimeConnection): void {
    const turn = this.#accepted++ % TURNS
    this.#turnOf.set(connection, turn)
    this.#turns[turn]!.add(connection)
    this.#unauthenticated.set(connection, this.#sweep + SWEEPS_BEFORE_EXPIRY + 1)
    this.#countUnauthenticated(connection, 1)
  }

  remove(connection: RealtimeConnection): void {
    this.#turns[this.#turnOf.get(connection) ?? 0]!.delete(connection)
    this.#turnOf.delete(connection)
    this.keep(connection)
  }

  /** Exempts a connection that has sent its credential from expiry. */
  keep(connection: RealtimeConnection): void {
    if (this.#unauthenticated.delete(connection)) this.#countUnauthenticated(connection, -1)
  }

  /** Closes connections that have not authenticated in time. */
  expire(): void {
    this.#sweep++
    for (const [connection, last] of this.#unauthenticated) {
      if (last > this.#sweep) return
      this.keep(connection)
      connection.close(CLOSE.unauthenticated, "authenticate within 5 seconds")
    }
  }

  /** Pings the connections of the current turn. */
  heartbeat(): void {
    this.#turn = (this.#turn + 1) % TURNS
    for (const connection of this.#turns[this.#turn]!) connection.heartbeat()
  }

  #countUnauthenticated({ address }: RealtimeConnection, change: 1 | -1): void {
    const count = this.unauthenticatedFrom(address) + change
    const client = ClientAddress.clientOf(address)
    if (count === 0) this.#unauthenticatedByClient.delete(client)
    else this.#unauthenticatedByClient.set(client, count)
  }

  [Symbol.iterator](): Iterator<RealtimeConnection> {
    return this.#turnOf.keys()
  }
}
