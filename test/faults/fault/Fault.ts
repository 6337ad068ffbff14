import { setTimeout as sleep } from "node:timers/promises"
import type { ClusterServer } from "../../support/Cluster.ts"
import type { Random } from "../../support/Random.ts"
import { SHORT_LEASE_MILLIS } from "../server/TestServer.ts"
import type { ProviderFault } from "./ProviderFaults.ts"

/** A fault of a server: killed and started again, paused for longer than its leases last, or restarted. */
export type ServerFault =
  | { readonly kind: "killed"; readonly downMillis: number }
  | { readonly kind: "paused"; readonly millis: number }
  | { readonly kind: "restarted" }

export type Fault =
  | ServerFault
  /** The connection by which a server receives signals of new events ends. */
  | { readonly kind: "listener cut" }
  /** Clients cut their sockets, some in the middle of a frame. */
  | { readonly kind: "sockets cut"; readonly percent: number; readonly isMidFrame: boolean }
  | { readonly kind: "network cut" }
  /** The client program is killed, with or without the commands that it runs. */
  | { readonly kind: "client killed"; readonly withChildren: boolean }
  /** The facilitator, the mail relay or the carrier fails once. */
  | { readonly kind: "provider failed"; readonly fault: ProviderFault }

export type FaultKind = Fault["kind"]

/** How many faults of each kind a deck has. */
export type Deck = Readonly<Partial<Record<FaultKind, number>>>

const DOWN_MILLIS_MAX = 2_000

/** Failures that pass within seconds. */
const PROVIDER_FAULTS: ReadonlyArray<ProviderFault> = [
  ...(["before", "after", "reject", "hang"] as const).map((mode) => ({ operation: "settle", mode }) as const),
  ...(["send", "search", "buy", "call", "update"] as const).flatMap((operation) =>
    (["before", "after", "reject"] as const).map((mode) => ({ operation, mode }))
  )
]

/** Draws `count` faults in the proportions of the deck. The same seed gives the same faults in the same order. */
export const planFaults = (deck: Deck, count: number, random: Random): ReadonlyArray<Fault> => {
  const kinds = (Object.entries(deck) as ReadonlyArray<readonly [FaultKind, number]>).flatMap(([kind, times]) =>
    Array.from({ length: times }, () => kind)
  )
  return random.shuffle(Array.from({ length: count }, (_, index) => draw(kinds[index % kinds.length]!, index, random)))
}

const draw = (kind: FaultKind, index: number, random: Random): Fault => {
  switch (kind) {
    case "killed":
      return { kind, downMillis: random.integer(DOWN_MILLIS_MAX) }
    case "paused":
      return { kind, millis: SHORT_LEASE_MILLIS + 1_000 + random.integer(2_000) }
    case "sockets cut":
      return { kind, percent: 2 + random.integer(20), isMidFrame: index % 2 === 0 }
    case "client killed":
      return { kind, withChildren: index % 2 === 0 }
    case "provider failed":
      return { kind, fault: random.pick(PROVIDER_FAULTS) }
    default:
      return { kind }
  }
}

/** Inflicts a fault on a server, and resolves once the server serves again. Starts nothing once `signal` is aborted. */
export const inflict = async (fault: ServerFault, server: ClusterServer, signal?: AbortSignal): Promise<void> => {
  switch (fault.kind) {
    case "killed":
      await server.kill()
      await sleep(fault.downMillis)
      break
    case "paused":
      server.freeze()
      await sleep(fault.millis)
      return server.thaw()
    case "restarted":
      await server.stop()
  }
  if (signal?.aborted !== true) await server.start()
}
