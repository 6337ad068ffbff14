import * as Timestamp from "../kernel/Timestamp.ts"

/** How long each relay of a call waits that follows one which broke off, in seconds; there are no more than these. */
const WAITS = [0, 1, 2, 4, 8, 8, 8]
/** A relay that broke off so long after the one before, in milliseconds, was none that fails at once. */
const APART = 30 * Timestamp.SECOND

/** The relays that broke off lately, each soon after another of its call. */
export interface RelayRetries {
  /**
   * A relay of the call has broken off: the seconds to wait before the next one is opened; undefined when too many have
   * failed in a row. What one of them fails by, as a voice that the carrier does not have, the next one may too.
   */
  readonly next: (callId: string, now: Timestamp.Timestamp) => number | undefined
}

/** In memory: a server that starts anew counts anew. */
export const make = (): RelayRetries => {
  /** By the call, the longest ago first. */
  const broken = new Map<string, { readonly count: number; readonly at: Timestamp.Timestamp }>()
  return {
    next: (callId, now) => {
      for (const [known, { at }] of broken) {
        if (now - at < APART) break
        broken.delete(known)
      }
      const count = broken.get(callId)?.count ?? 0
      broken.delete(callId)
      broken.set(callId, { count: count + 1, at: now })
      return WAITS[count]
    }
  }
}
