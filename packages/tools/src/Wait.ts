/** Hosts of the Model Context Protocol mostly end a call after 60 s. */
const WAIT_SECONDS_MAX = 50
const WAIT_SECONDS = 45

/** The input of tools that wait. A longer wait is cut, and its result says how to continue. */
export const TIMEOUT_INPUT = {
  type: "integer",
  minimum: 1,
  default: WAIT_SECONDS,
  description: `How long to wait. One call waits at most ${WAIT_SECONDS_MAX} seconds; call again to continue.`
} as const

/** Returns how long one call waits. */
export const waitSecondsOf = (seconds: number = WAIT_SECONDS): number => Math.min(seconds, WAIT_SECONDS_MAX)
