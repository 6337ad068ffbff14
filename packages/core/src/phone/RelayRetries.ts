import * as Timestamp from "../kernel/Timestamp.ts"

/**
 * The waits before each relay that replaces one which broke off, in seconds. After the last of them, no relay follows.
 */
const WAITS = [0, 1, 2, 4, 8, 8, 8]
/** A relay that lasts this long after its scheduled opening, in milliseconds, does not count as failing at once. */
const HELD = 10 * Timestamp.SECOND

/** Counts the relays of each call that broke off in a row. */
export interface RelayRetries {
  /**
   * Records that a relay of the call broke off. Returns the seconds to wait before the next one is opened, or undefined
   * if too many failed in a row: the cause, for example a voice that the carrier does not have, may fail the next one
   * too.
   */
  readonly next: (callId: string, now: Timestamp.Timestamp) => number | undefined
}

/** Creates the counters in memory: they start again when the server restarts. */
export const make = (): RelayRetries => {
  /** By call: how many relays failed in a row, and when the next one has lasted long enough to start counting again. */
  const broken = new Map<string, { readonly count: number; readonly heldAt: Timestamp.Timestamp }>()
  let forgottenAt = 0
  return {
    next: (callId, now) => {
      // Not on each call: all relays of a server may break off at once.
      if (now - forgottenAt >= HELD) {
        for (const [known, { heldAt }] of broken) if (heldAt <= now) broken.delete(known)
        forgottenAt = now
      }
      const last = broken.get(callId)
      const count = last === undefined || last.heldAt <= now ? 0 : last.count
      const wait = WAITS[count]
      broken.set(callId, { count: count + 1, heldAt: Timestamp.add(now, (wait ?? 0) * Timestamp.SECOND + HELD) })
      return wait
    }
  }
}
