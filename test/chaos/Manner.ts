import type { Random } from "../race/Random.ts"
import { SHORT_LEASE_MILLIS } from "../support/ShortLease.ts"
import type { Frame } from "./History.ts"

/** How a client treats what comes to it. */
export const MANNERS = ["prompt", "unnamed", "rest", "slow", "forgetful", "silent"] as const
export type Manner = (typeof MANNERS)[number]

/** Of twenty clients, so many of each manner. */
export const USUAL_MANNERS: ReadonlyArray<Manner> = [
  ...Array.from({ length: 8 }, () => "prompt" as const),
  ...Array.from({ length: 3 }, () => "unnamed" as const),
  ...Array.from({ length: 3 }, () => "slow" as const),
  ...Array.from({ length: 3 }, () => "forgetful" as const),
  ...Array.from({ length: 2 }, () => "rest" as const),
  "silent"
]

/** What a client can do about a delivery. */
export interface Hands {
  /** Acknowledges over its socket, by the name of the delivery or without. */
  readonly acknowledge: (frame: Frame, isNamed: boolean) => void
  /** Acknowledges by REST, until that is answered. */
  readonly acknowledgeByRest: (frame: Frame) => void
  /** Does something later, unless the client's socket is gone by then. */
  readonly later: (millis: number, then: () => void) => void
  /** Reads nothing, and answers no ping, for so long. */
  readonly pause: (millis: number) => void
}

/** Of a hundred deliveries, upon so many a client of these manners stops reading, or forgets to answer. */
const PAUSES_IN_HUNDRED = 3
const FORGETS_IN_HUNDRED = 20
/** Longest pause of a slow client, and of one that is cut off because nobody answers pings. */
const SLOW_MILLIS = 3_000
const SILENT_MILLIS = 45_000
const WORK_MILLIS = 20

/** What a client of this manner does with a delivery. */
export const treat = (manner: Manner, frame: Frame, hands: Hands, random: Random): void => {
  const happens = (inHundred: number): boolean => random.integer(100) < inHundred
  switch (manner) {
    case "prompt":
      return hands.acknowledge(frame, true)
    case "unnamed":
      return hands.acknowledge(frame, false)
    case "rest":
      return hands.acknowledgeByRest(frame)
    case "slow":
      if (happens(PAUSES_IN_HUNDRED)) hands.pause(random.integer(SLOW_MILLIS))
      return hands.later(random.integer(WORK_MILLIS), () => hands.acknowledge(frame, true))
    case "forgetful":
      if (!happens(FORGETS_IN_HUNDRED)) return hands.acknowledge(frame, true)
      return hands.later(random.integer(2 * SHORT_LEASE_MILLIS), () => hands.acknowledge(frame, true))
    case "silent":
      if (happens(PAUSES_IN_HUNDRED)) hands.pause(random.integer(SILENT_MILLIS))
      return hands.acknowledge(frame, true)
  }
}
