import { addToCount, ClientAddress } from "@agentos/core"
import { CLOSE_CODES } from "@agentos/api"
import type { RealtimeConnection } from "./RealtimeConnection.ts"

/** Each heartbeat pings one of this number of groups, so that never all connections are pinged at once. */
const PING_GROUPS = 20

/** Number of `expire` calls before an unauthenticated connection is closed. */
const SWEEPS_BEFORE_EXPIRY = 20

/** Every accepted socket, authenticated or not. One sweep serves all of them: no socket has its own timer. */
export class Connections {
  readonly #groups = Array.from({ length: PING_GROUPS }, () => new Set<RealtimeConnection>())
  readonly #groupOf = new Map<RealtimeConnection, number>()
  /** Unauthenticated connections, oldest first, with the sweep in which each is closed. */
  readonly #unauthenticated = new Map<RealtimeConnection, number>()
  readonly #unauthenticatedByClient = new Map<string, number>()
  #accepted = 0
  #pinged = 0
  #sweep = 0

  get unauthenticatedCount(): number {
    return this.#unauthenticated.size
  }

  /** Returns the number of unauthenticated connections from the client at an address. */
  unauthenticatedFrom(address: string): number {
    return this.#unauthenticatedByClient.get(ClientAddress.clientOf(address)) ?? 0
  }

  get size(): number {
    return this.#groupOf.size
  }

  add(connection: RealtimeConnection): void {
    const group = this.#accepted++ % PING_GROUPS
    this.#groupOf.set(connection, group)
    this.#groups[group]!.add(connection)
    this.#unauthenticated.set(connection, this.#sweep + SWEEPS_BEFORE_EXPIRY + 1)
    this.#countUnauthenticated(connection, 1)
  }

  remove(connection: RealtimeConnection): void {
    this.#groups[this.#groupOf.get(connection) ?? 0]!.delete(connection)
    this.#groupOf.delete(connection)
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
      connection.close(CLOSE_CODES.unauthenticated.code, "authenticate within 5 seconds")
    }
  }

  /** Pings the connections of the next group. */
  heartbeat(): void {
    this.#pinged = (this.#pinged + 1) % PING_GROUPS
    for (const connection of this.#groups[this.#pinged]!) connection.heartbeat()
  }

  #countUnauthenticated({ address }: RealtimeConnection, change: 1 | -1): void {
    addToCount(this.#unauthenticatedByClient, ClientAddress.clientOf(address), change)
  }

  [Symbol.iterator](): Iterator<RealtimeConnection> {
    return this.#groupOf.keys()
  }
}
