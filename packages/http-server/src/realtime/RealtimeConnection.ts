import type { RealtimeServerMessage } from "@agentos/api"
import type { ErrorCode } from "@agentos/core"
import type { Duplex } from "node:stream"
import type { WebSocket } from "ws"

/** Close codes of the gateway: those of RFC 6455 and, from 4000 on, its own. */
export const CLOSE = {
  failed: 1011,
  restarting: 1012,
  tooMany: 1013,
  badMessage: 4400,
  unauthenticated: 4401,
  slowReader: 4408,
  tooManyFrames: 4429
} as const

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE]

/** What may wait unsent for a reader, in bytes; one that lets more pile up is cut off. */
const UNSENT_LIMIT_BYTES = 1024 * 1024

/** Why a socket is not read for a while. */
export type PauseReason = "acknowledgements" | "frames"

/** One accepted socket: what can be said over it, and whether somebody is still there. */
export class RealtimeConnection {
  /** Whether a pong has come since the last ping. */
  private answered = true
  private readonly socket: WebSocket
  readonly #stream: Duplex
  readonly #pausedFor = new Set<PauseReason>()
  /** The remote address of the client. */
  readonly address: string

  /** `stream` is what the socket was made of. */
  constructor(socket: WebSocket, stream: Duplex, address: string) {
    this.socket = socket
    this.#stream = stream
    this.address = address
    socket.on("pong", () => {
      this.answered = true
    })
    // What goes wrong on a socket ends in its close event; without a listener it would end the process.
    socket.on("error", () => socket.terminate())
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN
  }

  send(message: RealtimeServerMessage): void {
    if (!this.isOpen) return
    this.socket.send(JSON.stringify(message))
    if (this.socket.bufferedAmount > UNSENT_LIMIT_BYTES) this.close(CLOSE.slowReader, "the reader is too slow")
  }

  /** Writes all that `send` sends at once. */
  sendTogether(send: () => void): void {
    this.#stream.cork()
    send()
    this.#stream.uncork()
  }

  sendError(code: ErrorCode, message: string): void {
    this.send({ type: "error", code, message })
  }

  close(code: CloseCode, reason: string): undefined {
    if (this.isOpen) this.socket.close(code, reason)
  }

  /** Cuts the connection. */
  terminate(): void {
    this.socket.terminate()
  }

  /** Asks whether somebody is there; cuts the connection when the last question was not answered. */
  heartbeat(): void {
    if (!this.answered) return this.socket.terminate()
    this.answered = false
    if (this.isOpen) this.socket.ping()
  }

  /** Stops reading until `resume` for the same reason, so that a flood waits in the network and not in memory. */
  pause(reason: PauseReason): void {
    if (this.#pausedFor.size === 0) this.socket.pause()
    this.#pausedFor.add(reason)
  }

  resume(reason: PauseReason): void {
    if (this.#pausedFor.delete(reason) && this.#pausedFor.size === 0) this.socket.resume()
  }
}
