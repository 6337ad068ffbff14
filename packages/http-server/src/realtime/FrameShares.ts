import type { RealtimeConnection } from "./RealtimeConnection.ts"

/**
 * Maximum number of frames of one tenant in one tick of the event loop, of all its sockets together. An acknowledgement takes
 * about 50 microseconds, and one read of a socket contains 500 of them.
 */
export const FRAMES_PER_TICK = 32

type Pausable = Pick<RealtimeConnection, "pause" | "resume">

interface Share {
  left: number
  /** Sockets with further frames, in the order in which they continue. */
  readonly waiting: Set<Pausable>
}

/** Shares the ticks of the event loop between tenants, and the share of a tenant between its sockets. */
export class FrameShares {
  readonly #shares = new Map<string, Share>()

  /** Takes a frame from the tenant's share of this tick. Otherwise pauses the socket until one of the next ticks. */
  take(tenantId: string, connection: Pausable): boolean {
    const share = this.#shares.get(tenantId) ?? this.#begin(tenantId)
    if (share.left === 0) {
      share.waiting.add(connection)
      connection.pause("tick")
      return false
    }
    share.left--
    return true
  }

  #begin(tenantId: string): Share {
    const share: Share = { left: FRAMES_PER_TICK, waiting: new Set() }
    this.#shares.set(tenantId, share)
    setImmediate(() => this.#continue(tenantId, share))
    return share
  }

  #continue(tenantId: string, share: Share): void {
    if (share.waiting.size === 0) {
      this.#shares.delete(tenantId)
      return
    }
    share.left = FRAMES_PER_TICK
    // A socket with more frames than are left is added again, behind the others.
    for (const connection of share.waiting) {
      if (share.left === 0) break
      share.waiting.delete(connection)
      connection.resume("tick")
    }
    setImmediate(() => this.#continue(tenantId, share))
  }
}
