import type { RealtimeConnection } from "./RealtimeConnection.ts"

/**
 * Maximum number of frames of one tenant in one turn of the event loop, of all its sockets together. An acknowledgement takes
 * about 50 microseconds, and one read of a socket contains 500 of them.
 */
export const FRAMES_PER_TURN = 32

type Pausable = Pick<RealtimeConnection, "pause" | "resume">

interface Turn {
  left: number
  /** Sockets with further frames, in the order in which they continue. */
  readonly waiting: Set<Pausable>
}

/** Shares the turns of the event loop between tenants, and those of a tenant between its sockets. */
export class FrameTurns {
  readonly #turns = new Map<string, Turn>()

  /** Takes a frame from the current turn of a tenant. Otherwise pauses the socket until one of the next turns. */
  take(tenantId: string, connection: Pausable): boolean {
    const turn = this.#turns.get(tenantId) ?? this.#begin(tenantId)
    if (turn.left === 0) {
      turn.waiting.add(connection)
      connection.pause("turn")
      return false
    }
    turn.left--
    return true
  }

  #begin(tenantId: string): Turn {
    const turn: Turn = { left: FRAMES_PER_TURN, waiting: new Set() }
    this.#turns.set(tenantId, turn)
    setImmediate(() => this.#continue(tenantId, turn))
    return turn
  }

  #continue(tenantId: string, turn: Turn): void {
    if (turn.waiting.size === 0) {
      this.#turns.delete(tenantId)
      return
    }
    turn.left = FRAMES_PER_TURN
    // A socket with more frames than are left is added again, behind the others.
    for (const connection of turn.waiting) {
      if (turn.left === 0) break
      turn.waiting.delete(connection)
      connection.resume("turn")
    }
    setImmediate(() => this.#continue(tenantId, turn))
  }
}
