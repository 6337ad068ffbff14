import type { RelayCommand, RelayEvent } from "@agentos/core"
import {
  RELAY_MESSAGE_BYTES_MAX,
  type RelayInbound,
  readRelayMessage,
  writeRelayMessage
} from "@agentos/provider-twilio"
import { type Cause, Deferred, Effect, Option, Queue } from "effect"
import type { RawData, WebSocket } from "ws"

/** Close codes of relays, from RFC 6455 and its registry. */
export const RELAY_CLOSE = { done: 1000, refused: 1008, failed: 1011, restarting: 1012 } as const
type RelayCloseCode = (typeof RELAY_CLOSE)[keyof typeof RELAY_CLOSE]

/** Maximum number of received events that are not processed yet. A socket that sends more is closed. */
const EVENTS_MAX = 256
/** Maximum unsent data for the carrier, in bytes. */
const UNSENT_LIMIT_BYTES = 256 * 1024

const relayEventOf = (message: RelayInbound): RelayEvent | undefined => {
  switch (message.type) {
    case "setup":
      return undefined
    case "prompt":
      // A prompt that is not the last is a partial transcription; the last one contains the whole text.
      return message.last === false ? undefined : { _tag: "Said", text: message.voicePrompt }
    case "interrupt":
      return { _tag: "Interrupted", spoken: message.utteranceUntilInterrupt }
    case "dtmf":
      return { _tag: "Pressed", key: message.digit }
    case "error":
      return { _tag: "Failed", why: message.description }
  }
}

/** One accepted socket of a call. Receives the caller's events and sends commands. */
export class RelayPeer {
  /** The carrier's id of the call, as stated by the socket. */
  readonly setup = Deferred.makeUnsafe<string>()
  readonly closed = Deferred.makeUnsafe<void>()
  /** Ends when the socket does. */
  readonly events: Queue.Queue<RelayEvent, Cause.Done>
  /** Whether a pong has arrived since the last ping. */
  #answered = true
  readonly #socket: WebSocket

  readonly #admitFrame: () => boolean

  /** `admitFrame` counts a frame and returns false if there are too many. */
  constructor(socket: WebSocket, events: Queue.Queue<RelayEvent, Cause.Done>, admitFrame: () => boolean) {
    this.#socket = socket
    this.events = events
    this.#admitFrame = admitFrame
    socket.on("message", (data, isBinary) => this.#receive(data, isBinary))
    socket.on("ping", () => this.#count())
    socket.on("pong", () => {
      this.#answered = true
      this.#count()
    })
    // An error on a socket leads to its close event; without a listener it would end the process.
    socket.on("error", () => socket.terminate())
    socket.once("close", () => {
      Queue.endUnsafe(events)
      Deferred.doneUnsafe(this.closed, Effect.void)
    })
  }

  static readonly queue = Queue.make<RelayEvent, Cause.Done>({ capacity: EVENTS_MAX, strategy: "dropping" })

  /** Sends a command to the carrier. Does nothing if the socket is closed. */
  send(command: RelayCommand): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(
      writeRelayMessage(
        command._tag === "End" ? { type: "end" } : { type: "text", token: command.text, last: command.isLast }
      )
    )
    if (this.#socket.bufferedAmount > UNSENT_LIMIT_BYTES) this.close(RELAY_CLOSE.refused, "the reader is too slow")
  }

  close(code: RelayCloseCode, reason: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.close(code, reason)
  }

  /** Closes the connection without a closing handshake. */
  terminate(): void {
    this.#socket.terminate()
  }

  /** Pings the peer. Terminates the connection if the last ping was not answered. */
  heartbeat(): void {
    if (!this.#answered) return this.#socket.terminate()
    this.#answered = false
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping()
  }

  #count(): void {
    if (!this.#admitFrame()) this.close(RELAY_CLOSE.refused, "too much at once")
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#count()
    if (this.#socket.readyState !== this.#socket.OPEN) return
    // Whole messages arrive as one Buffer, because that is the default `binaryType` of sockets.
    const message = isBinary || !Buffer.isBuffer(data) ? Option.none() : readRelayMessage(data.toString("utf8"))
    if (Option.isNone(message)) return
    if (message.value.type === "setup") {
      Deferred.doneUnsafe(this.setup, Effect.succeed(message.value.callSid))
      return
    }
    const one = relayEventOf(message.value)
    if (one !== undefined && !Queue.offerUnsafe(this.events, one)) {
      this.close(RELAY_CLOSE.refused, "too much at once")
    }
  }
}

/**
 * Limits of the sockets. Compression would cost each socket more than everything else. The types of ws do not include
 * `closeTimeout` yet.
 */
export const RELAY_SOCKET_OPTIONS = {
  noServer: true,
  maxPayload: RELAY_MESSAGE_BYTES_MAX,
  perMessageDeflate: false,
  clientTracking: false,
  closeTimeout: 2_000
}
