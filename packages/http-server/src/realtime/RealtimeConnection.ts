import { CLOSE_CODES, type CloseCode, type RealtimeServerMessage } from "@agentos/api"
import type { ErrorCode } from "@agentos/core"
import type { Duplex } from "node:stream"
import type { WebSocket } from "ws"
import { FrameGate, type FrameVerdict } from "../connection/FrameGate.ts"

/** Maximum unsent data for a reader, in bytes. A slower reader is disconnected. */
const UNSENT_LIMIT_BYTES = 1024 * 1024

/**
 * The reason why a socket is temporarily not read: its acknowledgements or frames exceed a limit, its credential is being
 * checked, it has used the current turn of the event loop, or it was closed because it floods.
 */
export type PauseReason = "acknowledgements" | "frames" | "opening" | "tick" | "closing"

export interface ConnectionFrames {
  /** Decides about the next frame. */
  readonly take: (connection: RealtimeConnection) => FrameVerdict
  /** Called when the connection is closed because of its frames. */
  readonly refused: () => void
}

/** One accepted socket. Sends messages and detects a lost peer. */
export class RealtimeConnection {
  /** Whether a pong has arrived since the last ping. */
  private answered = true
  private readonly socket: WebSocket
  readonly #stream: Duplex
  readonly #frames: FrameGate
  readonly #framesRefused: () => void
  readonly #pausedFor = new Set<PauseReason>()
  /** The remote address of the client. */
  readonly address: string

  /** `stream` is the stream under the socket. */
  constructor(socket: WebSocket, stream: Duplex, address: string, frames: ConnectionFrames) {
    this.socket = socket
    this.#stream = stream
    this.address = address
    this.#frames = new FrameGate(stream, {
      take: () => frames.take(this),
      refused: () => this.refuseFrames()
    })
    this.#framesRefused = frames.refused
    socket.on("pong", () => {
      this.answered = true
    })
    // An error on a socket leads to its close event; without a listener it would end the process.
    socket.on("error", () => socket.terminate())
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN
  }

  get isPaused(): boolean {
    return this.#pausedFor.size > 0
  }

  send(message: RealtimeServerMessage): void {
    if (!this.isOpen) return
    this.socket.send(JSON.stringify(message))
    if (this.socket.bufferedAmount > UNSENT_LIMIT_BYTES)
      this.close(CLOSE_CODES.slowReader.code, "the reader is too slow")
  }

  /** Writes everything that `send` sends in one piece. */
  sendTogether(send: () => void): void {
    this.#stream.cork()
    send()
    this.#stream.uncork()
  }

  sendError(code: ErrorCode, message: string): void {
    this.send({ type: "error", code, message })
  }

  close(code: CloseCode, reason: string): undefined {
    if (!this.isOpen) return
    this.socket.close(code, reason)
    // The client's answer to the close frame is read.
    this.resume("opening")
  }

  /** Closes the connection because of its frames. */
  refuseFrames(): void {
    this.#framesRefused()
    this.close(CLOSE_CODES.tooManyFrames.code, "too many frames")
    // The closing handshake lasts seconds, and the flood continues meanwhile.
    this.pause("closing")
  }

  /** Closes the connection without a closing handshake. */
  terminate(): void {
    this.socket.terminate()
  }

  /** Pings the peer. Terminates the connection if the last ping was not answered. */
  heartbeat(): void {
    if (!this.answered) return this.socket.terminate()
    this.answered = false
    if (this.isOpen) this.socket.ping()
  }

  /**
   * Stops reading until `resume` is called for the same reason, so that a flood waits in the network and not in memory.
   */
  pause(reason: PauseReason): void {
    if (this.#pausedFor.size === 0) this.socket.pause()
    this.#pausedFor.add(reason)
  }

  resume(reason: PauseReason): void {
    if (!this.#pausedFor.delete(reason) || this.isPaused) return
    // The held frames come before the next bytes, and may pause reading again.
    this.#frames.release()
    if (!this.isPaused) this.socket.resume()
  }
}
