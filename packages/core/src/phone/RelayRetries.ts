import * as Timestamp from "../kernel/Timestamp.ts"

/** How long each relay of a call waits that follows one which broke off, in seconds; there are no more than these. */
const WAITS = [0, 1, 2, 4, 8, 8, 8]
/** A relay that broke off so long after it was to be opened, in milliseconds, was none that fails at once. */
const HELD = 10 * Timestamp.SECOND

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
  /** By the call: how many have failed in a row, and when the next one will have held. */
  const broken = new Map<string, { readonly count: number; readonly heldAt: Timestamp.Timestamp }>()
  let forgottenAt = 0
  return {
    next: (callId, now) => {
      // Not each time: all calls of a server may break off at once.
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
