import { AgentOsError } from "../AgentOsError.ts"
import { isRecord, parseJson } from "../Encoding.ts"
import type { components } from "../generated/Components.ts"
import type { Caller } from "../http/Caller.ts"
import type { Settings, WebSocketLike } from "../Options.ts"

type Schemas = components["schemas"]
export type ServerMessage = Schemas["RealtimeServerMessage"]
export type ClientMessage = Schemas["RealtimeClientMessage"]

/** `deliver` leases events, `observe` shows them, `voice` answers calls. */
export type SessionMode = NonNullable<Schemas["SessionAuthenticate"]["mode"]>

const OPEN_TIMEOUT_MILLIS = 10_000
const BACKOFF_MILLIS_MIN = 500
const BACKOFF_MILLIS_MAX = 30_000
/** A session of this length resets the backoff. */
const STABLE_MILLIS = 5_000
/** Browsers show no pings, so a connection that died silently looks idle: an idle one is opened again. */
const SILENCE_MILLIS_MAX = 300_000
/** WebSocket.OPEN and CLOSED, which implementations need not have as constants. */
const OPEN = 1
const CLOSED = 3

/** Whether a later attempt may succeed. */
const isTransient = (error: unknown): boolean =>
  error instanceof AgentOsError &&
  (error.isRetryable || ["INTERNAL_ERROR", "RATE_LIMITED", "UNEXPECTED_ANSWER", "UNREACHABLE"].includes(error.code))

/** What a follower does with its sessions. */
export interface Follower {
  readonly mode: SessionMode
  readonly onMessage: (message: ServerMessage) => void
  /** The session ended. Its leases and open turns are lost. */
  readonly onClose?: () => void
}

/** Follows the realtime gateway: opens a session, and another one whenever it ends. */
export class Realtime {
  readonly #settings: Settings
  readonly #caller: Caller
  readonly #follower: Follower
  readonly #stop = new AbortController()
  #socket: WebSocketLike | undefined
  #isReady = false
  #isReopening = false
  #heardAt = 0

  constructor(settings: Settings, caller: Caller, follower: Follower) {
    this.#settings = settings
    this.#caller = caller
    this.#follower = follower
  }

  /**
   * Runs until `close`. Rejects if the first session cannot be opened, and with errors that no later attempt can
   * change.
   */
  async run(): Promise<void> {
    const { clock } = this.#settings
    const stop = this.#stop.signal
    let attempts = 0
    let isReached = false
    while (!stop.aborted) {
      const start = clock.now()
      try {
        await this.#session(() => (isReached = true))
        if (clock.now() - start >= STABLE_MILLIS) attempts = 0
      } catch (error) {
        if (stop.aborted) return
        if (!isReached || !isTransient(error)) throw error
      }
      if (!stop.aborted && !this.#isReopening) await clock.sleep(backoff(attempts++), stop)
      this.#isReopening = false
    }
  }

  /** Sends a message. Returns whether a session is open. */
  send(message: ClientMessage): boolean {
    if (!this.#isReady || this.#socket?.readyState !== OPEN) return false
    this.#socket.send(JSON.stringify(message))
    return true
  }

  /** Ends the session, so that another one replays what this one could not take. */
  reopen(): void {
    this.#isReopening = true
    this.#socket?.close(1000)
  }

  close(): void {
    this.#stop.abort()
    this.#socket?.close(1000)
  }

  /** Opens a session and serves it until it ends. */
  async #session(onReady: () => void): Promise<void> {
    const { realtime } = await this.#caller.call("getRealtimeToken", {}, { signal: this.#stop.signal })
    const { token, websocketUrl } = realtime
    if (!websocketUrl.startsWith("wss:") && !this.#settings.baseUrl.startsWith("http:"))
      throw new AgentOsError({
        code: "UNEXPECTED_ANSWER",
        message: "The server returned an unencrypted WebSocket URL.",
        details: {}
      })
    const { mode } = this.#follower
    const socket = new this.#settings.WebSocket(websocketUrl)
    this.#socket = socket
    this.#isReady = false
    let why = "the connection was closed"
    const closed = new Promise<void>((resolve) => {
      socket.addEventListener("close", ({ code, reason }) => {
        why = reason === undefined || reason === "" ? `the connection was closed with code ${code}` : reason
        resolve()
      })
      // A connection that fails closes too, except in some implementations while it opens.
      socket.addEventListener("error", () => {
        if (socket.readyState === CLOSED) resolve()
      })
    })
    socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "session.authenticate", token, mode })))
    socket.addEventListener("message", ({ data }) => {
      this.#heardAt = this.#settings.clock.now()
      const message = typeof data === "string" ? parseJson(data) : undefined
      if (!isRecord(message)) return socket.close(1000)
      if (message["type"] === "session.ready") {
        this.#isReady = true
        onReady()
      }
      if (message["type"] === "error" && typeof message["message"] === "string" && !this.#isReady)
        why = message["message"]
      // The shape of a message is trusted.
      this.#follower.onMessage(message as unknown as ServerMessage)
    })
    const watched = new AbortController()
    void this.#watch(socket, watched.signal)
    if (this.#stop.signal.aborted) socket.close(1000)
    await closed
    watched.abort()
    const wasReady = this.#isReady
    this.#isReady = false
    this.#follower.onClose?.()
    if (!wasReady)
      throw new AgentOsError({
        code: "UNREACHABLE",
        message: `The realtime session could not be opened: ${why}.`,
        details: {},
        isRetryable: true
      })
  }

  /** Closes a socket that does not become a session in time, or that is silent for too long. */
  async #watch(socket: WebSocketLike, stop: AbortSignal): Promise<void> {
    const { clock } = this.#settings
    this.#heardAt = clock.now()
    await clock.sleep(OPEN_TIMEOUT_MILLIS, stop)
    if (!stop.aborted && !this.#isReady) return socket.close(1000)
    while (!stop.aborted) {
      const rest = this.#heardAt + SILENCE_MILLIS_MAX - clock.now()
      if (rest <= 0) return socket.close(1000)
      await clock.sleep(rest, stop)
    }
  }
}

/** Returns the delay before attempt `count` + 1, with jitter between half of the span and all of it. */
const backoff = (count: number): number => {
  const span = Math.min(BACKOFF_MILLIS_MAX, BACKOFF_MILLIS_MIN * 2 ** Math.min(count, 10))
  // oxlint-disable-next-line no-restricted-properties -- jitter is random on every platform
  return span / 2 + Math.random() * (span / 2)
}
