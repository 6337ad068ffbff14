import type { FrameVerdict } from "../connection/FrameGate.ts"
import { FRAMES_AT_ONCE } from "../connection/SocketLimits.ts"
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

/** Maximum number of frames of a socket before its session is open: one message and its pings. */
const UNAUTHENTICATED_FRAMES = 20

interface SessionFrames {
  readonly tenantId: string
  /** Takes the next frames from the rates of the session and its tenant. Returns false if they are exceeded. */
  readonly admit: () => boolean
}

/**
 * Counts the frames of one socket. A session that exceeds its limits is not read until they allow more. A socket that
 * floods before its session is open is closed.
 */
export class FrameMeter {
  readonly #shares: FrameShares
  /** Called when the rates are exceeded. */
  readonly #exceeded: () => void
  /** Whether a credential has arrived. */
  readonly #isOpening: () => boolean
  #session: SessionFrames | undefined
  /** Frames that are admitted and have not arrived. */
  #left = UNAUTHENTICATED_FRAMES

  constructor(shares: FrameShares, exceeded: () => void, isOpening: () => boolean) {
    this.#shares = shares
    this.#exceeded = exceeded
    this.#isOpening = isOpening
  }

  /** Applies the limits of a session from now on. */
  begin(session: SessionFrames): void {
    this.#session = session
  }

  /** Decides about the next frame of a socket. */
  take(connection: RealtimeConnection): FrameVerdict {
    if (connection.isPaused) return "held"
    const session = this.#session
    if (this.#left === 0) {
      if (session === undefined) return this.#awaitCredential(connection)
      if (!session.admit()) {
        connection.pause("frames")
        this.#exceeded()
        return "held"
      }
      this.#left = FRAMES_AT_ONCE
    }
    if (session !== undefined && !this.#shares.take(session.tenantId, connection)) return "held"
    this.#left--
    return "admitted"
  }

  /**
   * Holds what follows the first frames until their session is open. One read of the connection may contain them all, so
   * that the credential among the first ones is parsed only after this.
   */
  #awaitCredential(connection: RealtimeConnection): FrameVerdict {
    connection.pause("opening")
    setImmediate(() => {
      if (!this.#isOpening()) connection.refuseFrames()
    })
    return "held"
  }

  /** Resumes reading if the rates allow it. Returns whether they do. */
  retry(connection: RealtimeConnection): boolean {
    if (this.#session?.admit() !== true) return false
    this.#left += FRAMES_AT_ONCE
    connection.resume("frames")
    return true
  }
}
