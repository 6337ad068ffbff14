import type { Random } from "../support/Random.ts"
import { SHORT_LEASE_MILLIS } from "../faults/server/TestServer.ts"
import type { Frame } from "../faults/observation/EventHistory.ts"

/** How a client handles deliveries. */
export type Behavior = "prompt" | "unnamed" | "rest" | "slow" | "forgetful" | "silent"

/** The behaviors of twenty clients. */
export const USUAL_BEHAVIORS: ReadonlyArray<Behavior> = (
  [
    ["prompt", 8],
    ["unnamed", 3],
    ["slow", 3],
    ["forgetful", 3],
    ["rest", 2],
    ["silent", 1]
  ] as const
).flatMap(([behavior, count]) => Array.from({ length: count }, () => behavior))

export interface ClientActions {
  /** Acknowledges over the socket, with the delivery's id if `isNamed`. */
  readonly acknowledge: (frame: Frame, isNamed: boolean) => void
  /** Acknowledges by REST, repeatedly until it is answered. */
  readonly acknowledgeByRest: (frame: Frame) => void
  /** Runs something later, if the same socket is still open. */
  readonly later: (millis: number, then: () => void) => void
  /** Reads nothing, and answers no ping. */
  readonly pause: (millis: number) => void
}

const PAUSE_PERCENT = 3
const FORGET_PERCENT = 20
const SLOW_MILLIS_MAX = 3_000
/** Long enough that the server closes the session. */
const SILENT_MILLIS_MAX = 45_000
const WORK_MILLIS_MAX = 20

export const handle = (behavior: Behavior, frame: Frame, actions: ClientActions, random: Random): void => {
  const happens = (percent: number): boolean => random.integer(100) < percent
  switch (behavior) {
    case "prompt":
      return actions.acknowledge(frame, true)
    case "unnamed":
      return actions.acknowledge(frame, false)
    case "rest":
      return actions.acknowledgeByRest(frame)
    case "slow":
      if (happens(PAUSE_PERCENT)) actions.pause(random.integer(SLOW_MILLIS_MAX))
      return actions.later(random.integer(WORK_MILLIS_MAX), () => actions.acknowledge(frame, true))
    case "forgetful":
      if (!happens(FORGET_PERCENT)) return actions.acknowledge(frame, true)
      return actions.later(random.integer(2 * SHORT_LEASE_MILLIS), () => actions.acknowledge(frame, true))
    case "silent":
      if (happens(PAUSE_PERCENT)) actions.pause(random.integer(SILENT_MILLIS_MAX))
      return actions.acknowledge(frame, true)
  }
}
