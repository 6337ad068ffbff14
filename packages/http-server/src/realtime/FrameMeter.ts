import { CLOSE, type RealtimeConnection } from "./RealtimeConnection.ts"
import { FRAMES_AT_ONCE } from "../edge/SocketLimits.ts"

/** Frames of a socket before its session is open: one message and its pings. */
const UNAUTHENTICATED_FRAMES = 20

/** Takes the next frames from the limits of a session; false if they are exceeded. */
export type AdmitFrames = () => boolean

/**
 * Counts the frames of one socket. A session that exceeds its limits is read no further until they allow more; a socket
 * that floods before its session is open is closed.
 */
export class FrameMeter {
  readonly #connection: RealtimeConnection
  #admit: AdmitFrames | undefined
  /** Frames admitted and not received. What was received before reading stopped makes it negative. */
  #left = UNAUTHENTICATED_FRAMES

  constructor(connection: RealtimeConnection) {
    this.#connection = connection
  }

  /** Measures by the limits of a session from now on. */
  begin(admit: AdmitFrames): void {
    this.#admit = admit
  }

  /** Counts a frame; returns false if the limits are exceeded by it. */
  count(): boolean {
    this.#left--
    if (this.#left >= 0 || this.#refill()) return true
    if (this.#admit === undefined) this.#connection.close(CLOSE.tooManyFrames, "too many frames")
    // Also where it is closed: the closing handshake lasts seconds, and the flood goes on meanwhile.
    this.#connection.pause("frames")
    return false
  }

  /** Reads on if the limits allow it; returns whether they do. */
  retry(): boolean {
    if (!this.#refill()) return false
    this.#connection.resume("frames")
    return true
  }

  #refill(): boolean {
    while (this.#left < 0) {
      if (this.#admit?.() !== true) return false
      this.#left += FRAMES_AT_ONCE
    }
    return true
  }
}
