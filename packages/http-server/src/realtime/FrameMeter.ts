import { CLOSE, type RealtimeConnection } from "./RealtimeConnection.ts"
import { FRAMES_AT_ONCE } from "../edge/SocketLimits.ts"

/** Maximum number of frames of a socket before its session is open: one message and its pings. */
const UNAUTHENTICATED_FRAMES = 20

/** Takes the next frames from the limits of a session. Returns false if they are exceeded. */
export type AdmitFrames = () => boolean

/**
 * Counts the frames of one socket. A session that exceeds its limits is not read until they allow more. A socket that
 * floods before its session is open is closed.
 */
export class FrameMeter {
  readonly #connection: RealtimeConnection
  #admit: AdmitFrames | undefined
  /** Frames admitted but not received yet. Negative if more frames were received before reading stopped. */
  #left = UNAUTHENTICATED_FRAMES

  constructor(connection: RealtimeConnection) {
    this.#connection = connection
  }

  /** Applies the limits of a session from now on. */
  begin(admit: AdmitFrames): void {
    this.#admit = admit
  }

  /** Counts a frame. Returns false if it exceeds the limits. */
  count(): boolean {
    this.#left--
    if (this.#left >= 0 || this.#refill()) return true
    if (this.#admit === undefined) this.#connection.close(CLOSE.tooManyFrames, "too many frames")
    // Also pauses a closed connection: the closing handshake lasts seconds, and the flood continues meanwhile.
    this.#connection.pause("frames")
    return false
  }

  /** Resumes reading if the limits allow it. Returns whether they do. */
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
