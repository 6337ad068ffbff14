import { ClientAddress } from "@agentos/core"
import { CLOSE, type RealtimeConnection } from "./RealtimeConnection.ts"

/** Each connection is asked once in so many turns whether somebody is there: so many at a time, and never all at once. */
const TURNS = 20

/** How many times `expire` is called before a connection that has not authenticated is closed. */
const PATIENCE = 20

/** Every accepted socket, authenticated or not. One sweep sees to all of them: no socket has a timer of its own. */
export class Connections {
  readonly #turns = Array.from({ length: TURNS }, () => new Set<RealtimeConnection>())
  readonly #turnOf = new Map<RealtimeConnection, number>()
  /** Those that have not authenticated, oldest first, with the sweep at which they are closed. */
  readonly #strangers = new Map<RealtimeConnection, number>()
  readonly #strangersByClient = new Map<string, number>()
  #accepted = 0
  #turn = 0
  #sweep = 0

  /** How many have not authenticated. */
  get strangerCount(): number {
    return this.#strangers.size
  }

  /** How many of them come from the client at an address. */
  strangersFrom(address: string): number {
    return this.#strangersByClient.get(ClientAddress.clientOf(address)) ?? 0
  }

  get size(): number {
    return this.#turnOf.size
  }

  add(connection: RealtimeConnection): void {
    const turn = this.#accepted++ % TURNS
    this.#turnOf.set(connection, turn)
    this.#turns[turn]!.add(connection)
    this.#strangers.set(connection, this.#sweep + PATIENCE + 1)
    this.#countStranger(connection, 1)
  }

  remove(connection: RealtimeConnection): void {
    this.#turns[this.#turnOf.get(connection) ?? 0]!.delete(connection)
    this.#turnOf.delete(connection)
    this.introduce(connection)
  }

  /** It has said who it is: it may take its time from now on. */
  introduce(connection: RealtimeConnection): void {
    if (this.#strangers.delete(connection)) this.#countStranger(connection, -1)
  }

  /** Closes who has not said in time who it is. */
  expire(): void {
    this.#sweep++
    for (const [connection, last] of this.#strangers) {
      if (last > this.#sweep) return
      this.introduce(connection)
      connection.close(CLOSE.unauthenticated, "authenticate within 5 seconds")
    }
  }

  /** Asks those whose turn it is whether somebody is there. */
  heartbeat(): void {
    this.#turn = (this.#turn + 1) % TURNS
    for (const connection of this.#turns[this.#turn]!) connection.heartbeat()
  }

  #countStranger({ address }: RealtimeConnection, change: 1 | -1): void {
    const count = this.strangersFrom(address) + change
    const client = ClientAddress.clientOf(address)
    if (count === 0) this.#strangersByClient.delete(client)
    else this.#strangersByClient.set(client, count)
  }

  [Symbol.iterator](): Iterator<RealtimeConnection> {
    return this.#turnOf.keys()
  }
}
