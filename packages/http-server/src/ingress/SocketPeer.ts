import type { IngressSocket } from "@agentos/core"
import { type Cause, Deferred, Effect, Queue } from "effect"
import type { Duplex } from "node:stream"
import type { RawData, WebSocket } from "ws"
import { FrameGate } from "../connection/FrameGate.ts"

/** Close codes from RFC 6455 and its registry. */
export const SOCKET_CLOSE = { done: 1000, refused: 1008, failed: 1011, restarting: 1012 } as const

/** Maximum unsent data for a peer, in bytes. */
const UNSENT_LIMIT_BYTES = 256 * 1024

export type Messages = Queue.Queue<string, Cause.Done>

/** The queue of a socket's messages that are not taken yet. Refuses more than its capacity. */
export const makeMessages = (capacity: number): Effect.Effect<Messages> =>
  Queue.make<string, Cause.Done>({ capacity, strategy: "dropping" })

/** The limits of the frames of one socket. */
export interface PeerFrames {
  /** Counts a frame. Returns false if there are too many. */
  readonly admit: () => boolean
  /** Called when the socket is closed because of its frames. */
  readonly refused: () => void
}

/** One accepted socket of a provider. */
export class SocketPeer implements IngressSocket {
  readonly closed = Deferred.makeUnsafe<void>()
  readonly messages: Messages
  readonly #socket: WebSocket
  /** Whether a pong has arrived since the last ping. */
  #isAlive = true

  /** `stream` is the stream under the socket. */
  constructor(socket: WebSocket, stream: Duplex, messages: Messages, frames: PeerFrames) {
    this.#socket = socket
    this.messages = messages
    new FrameGate(stream, {
      take: () => (frames.admit() ? "admitted" : "refused"),
      refused: () => {
        frames.refused()
        this.closeNow(SOCKET_CLOSE.refused, "too many messages")
        socket.pause()
      }
    })
    socket.on("message", (data, isBinary) => this.#receive(data, isBinary))
    socket.on("pong", () => {
      this.#isAlive = true
    })
    // An error on a socket leads to its close event; without a listener it would end the process.
    socket.on("error", () => socket.terminate())
    socket.once("close", () => {
      Queue.endUnsafe(messages)
      Deferred.doneUnsafe(this.closed, Effect.void)
    })
  }

  readonly send = (text: string): Effect.Effect<void> =>
    Effect.sync(() => {
      if (!this.#isOpen) return
      this.#socket.send(text)
      if (this.#socket.bufferedAmount > UNSENT_LIMIT_BYTES) this.closeNow(SOCKET_CLOSE.refused, "slow reader")
    })

  readonly close = (code: number, reason: string): Effect.Effect<void> => Effect.sync(() => this.closeNow(code, reason))

  closeNow(code: number, reason: string): void {
    if (this.#isOpen) this.#socket.close(code, reason)
  }

  /** Closes the connection without a closing handshake. */
  terminate(): void {
    this.#socket.terminate()
  }

  /** Pings the peer. Terminates the connection if the last ping was not answered. */
  heartbeat(): void {
    if (!this.#isAlive) return this.#socket.terminate()
    this.#isAlive = false
    if (this.#isOpen) this.#socket.ping()
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  #receive(data: RawData, isBinary: boolean): void {
    // Whole messages arrive as one Buffer, because that is the default `binaryType` of sockets.
    if (!this.#isOpen || isBinary || !Buffer.isBuffer(data)) return
    if (!Queue.offerUnsafe(this.messages, data.toString("utf8"))) {
      this.closeNow(SOCKET_CLOSE.refused, "too many messages")
    }
  }
}
