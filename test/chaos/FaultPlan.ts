import { makeRandom, type Random } from "../race/Random.ts"
import { SHORT_LEASE_MILLIS } from "../support/ShortLease.ts"

/**
 * What goes wrong: a server is killed, and started again after a pause; stands still for longer than its leases last,
 * and goes on; is told to stop, and started again; no longer hears of other servers' events, its connection for that
 * being ended; or lines are cut by the clients, in the middle of a frame or not.
 */
export type Fault =
  | { readonly kind: "killed"; readonly millis: number }
  | { readonly kind: "stopped"; readonly millis: number }
  | { readonly kind: "restarted" }
  | { readonly kind: "deaf" }
  | { readonly kind: "cut"; readonly inHundred: number; readonly isMidFrame: boolean }

export type FaultKind = Fault["kind"]

/** In ten faults, so many of each. */
const DECK: ReadonlyArray<FaultKind> = [
  "killed",
  "stopped",
  "cut",
  "deaf",
  "killed",
  "cut",
  "stopped",
  "restarted",
  "deaf",
  "cut"
]

const KILLED_MILLIS = 2_000
const STOPPED_MILLIS = { min: SHORT_LEASE_MILLIS + 1_000, more: 2_000 }

/** Of the sockets that are cut at a time, in a hundred. */
const CUT = { min: 2, more: 20 }

/** So many faults, of all kinds in proportion, in an order of the seed's. */
export const planFaults = (count: number, seed: number): ReadonlyArray<Fault> => {
  const random = makeRandom(seed)
  return random.shuffle(
    Array.from({ length: count }, (_, index) => makeFault(DECK[index % DECK.length]!, index, random))
  )
}

const makeFault = (kind: FaultKind, index: number, random: Random): Fault => {
  switch (kind) {
    case "killed":
      return { kind, millis: random.integer(KILLED_MILLIS) }
    case "stopped":
      return { kind, millis: STOPPED_MILLIS.min + random.integer(STOPPED_MILLIS.more) }
    case "cut":
      return { kind, inHundred: CUT.min + random.integer(CUT.more), isMidFrame: index % 2 === 0 }
    case "deaf":
    case "restarted":
      return { kind }
  }
}
