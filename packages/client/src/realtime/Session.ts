import { isRecord, parseJson } from "../Encoding.ts"
import type { components } from "../generated/Components.ts"
import type { Clock, WebSocketLike } from "../Options.ts"

type Schemas = components["schemas"]
export type ServerMessage = Schemas["RealtimeServerMessage"]
export type ClientMessage = Schemas["RealtimeClientMessage"]

/** `deliver` leases events, `observe` shows them, `voice` answers calls. */
export type SessionMode = NonNullable<Schemas["SessionAuthenticate"]["mode"]>

/**
 * The outcome of an acknowledgement. `stale`: the lease was lost or the event has expired, and nothing was acknowledged. `unknown`: the session
 * ended before the answer; an event that was not acknowledged is delivered again.
 */
export type Acknowledged = "acknowledged" | "stale" | "unknown"

/** Time for the socket to open, and then for the session. */
const OPEN_TIMEOUT_MILLIS = 10_000
const CLOSE_TIMEOUT_MILLIS = 1_000
/** More than two of the server's pings, which come every 20 s. */
const PING_SILENCE_MILLIS = 45_000
/** Browsers show no pings, so a connection that died silently looks idle: an idle one is opened again. */
const SILENCE_MILLIS = 300_000
/** Unread messages at which a socket that can be paused is paused. */
const BUFFER_MAX = 256
/** WebSocket.OPEN and CLOSED, which implementations need not have as constants. */
const OPEN = 1
const CLOSED = 3
/** The code with which the gateway closes a session whose token is not valid or revoked. */
const UNAUTHENTICATED = 4401

/**
 * A session could not be opened. `isBlocked`: not even the socket opened, for example because of a firewall.
 * `isTokenRefused`: the server refused the token, which may have been replaced after it was issued.
 */
export class NoSession extends Error {
  readonly isBlocked: boolean
  readonly isTokenRefused: boolean

  constructor(message: string, { isBlocked, isTokenRefused }: Pick<NoSession, "isBlocked" | "isTokenRefused">) {
    super(message)
    this.isBlocked = isBlocked
    this.isTokenRefused = isTokenRefused
  }
}

interface Sockets {
  readonly clock: Clock
  readonly WebSocket: new (url: string) => WebSocketLike
}

interface SessionRequest {
  readonly websocketUrl: string
  readonly token: string
  /** `deliver` if it is undefined. */
  readonly mode: SessionMode | undefined
  /** The numbers whose calls a session of mode `voice` receives; undefined for all. */
  readonly phoneNumberIds?: ReadonlyArray<string> | undefined
}

/** One session of the realtime gateway. */
export class Session {
  readonly #socket: WebSocketLike
  readonly #clock: Clock
  readonly #buffer: Array<ServerMessage> = []
  /** Unanswered acknowledgements by event. */
  readonly #acknowledging = new Map<string, (outcome: Acknowledged) => void>()
  /** Aborted when the session has ended. */
  readonly #ended = new AbortController()
  #handler: ((message: ServerMessage) => void) | undefined
  #wake: (() => void) | undefined
  #reason: string | undefined
  #closeCode: number | undefined
  #heardAt: number
  #isOpen = false
  #isReady = false
  #isPaused = false
  #isReplaced = false

  private constructor({ WebSocket, clock }: Sockets, { mode, phoneNumberIds, token, websocketUrl }: SessionRequest) {
    const socket = new WebSocket(websocketUrl)
    this.#socket = socket
    this.#clock = clock
    this.#heardAt = clock.now()
    socket.addEventListener("open", () => {
      this.#isOpen = true
      socket.send(JSON.stringify({ type: "session.authenticate", token, mode, phoneNumberIds }))
    })
    socket.addEventListener("message", ({ data }) => this.#receive(data))
    socket.addEventListener("error", ({ message }) => {
      if (message !== undefined && message !== "") this.#reason ??= message
      // A connection that fails closes too, except in some implementations while it opens.
      if (socket.readyState === CLOSED) this.#end()
    })
    socket.addEventListener("close", ({ code, reason }) => {
      this.#closeCode = code
      const closed = `the connection was closed with code ${code}`
      this.#end(reason === undefined || reason === "" ? closed : `${reason} (${code})`)
    })
    socket.on?.("ping", () => (this.#heardAt = clock.now()))
    void this.#watch()
  }

  /** Connects and authenticates. Rejects with NoSession. */
  static async open(sockets: Sockets, request: SessionRequest, stop: AbortSignal): Promise<Session> {
    const session = new Session(sockets, request)
    const abort = () => session.#drop()
    stop.addEventListener("abort", abort)
    if (stop.aborted) abort()
    await new Promise<void>((resolve) => (session.#wake = resolve))
    stop.removeEventListener("abort", abort)
    if (!session.#isReady)
      throw new NoSession(session.reason, {
        isBlocked: !session.#isOpen,
        isTokenRefused: session.#closeCode === UNAUTHENTICATED
      })
    return session
  }

  /** The reason why the session ended, for people. */
  get reason(): string {
    return this.#reason ?? "the connection was closed"
  }

  /** Whether `replace` ended it. */
  get isReplaced(): boolean {
    return this.#isReplaced
  }

  /** Yields the messages of the server in order until the session ends, except for answers to acknowledgements. */
  async *messages(): AsyncGenerator<ServerMessage, void> {
    for (;;) {
      const message = this.#buffer.shift()
      if (message !== undefined) {
        if (this.#isPaused && this.#buffer.length < BUFFER_MAX / 2) this.#pause(false)
        yield message
      } else if (this.#ended.signal.aborted) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Passes the messages to a handler as they arrive. Resolves when the session has ended. */
  async receive(handler: (message: ServerMessage) => void): Promise<void> {
    this.#handler = handler
    for (const message of this.#buffer.splice(0)) handler(message)
    if (!this.#ended.signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  /** Sends a message. Returns whether the session is open. */
  send(message: ClientMessage): boolean {
    if (this.#socket.readyState !== OPEN) return false
    this.#socket.send(JSON.stringify(message))
    return true
  }

  acknowledge(eventId: string, deliveryId: string): Promise<Acknowledged> {
    return new Promise((resolve) => {
      const earlier = this.#acknowledging.get(eventId)
      this.#acknowledging.set(eventId, (outcome) => {
        earlier?.(outcome)
        resolve(outcome)
      })
      if (!this.send({ type: "event.ack", eventId, deliveryId })) this.#settle(eventId, "unknown")
    })
  }

  /** Ends the session. The server releases its leases immediately. */
  async close(): Promise<void> {
    if (this.#ended.signal.aborted) return
    this.#socket.close(1000)
    await this.#clock.sleep(CLOSE_TIMEOUT_MILLIS, this.#ended.signal)
    if (!this.#ended.signal.aborted) this.#drop()
    this.#end()
  }

  /** Ends the session, so that another one is opened at once and replays what this one could not take. */
  replace(): void {
    this.#isReplaced = true
    void this.close()
  }

  /** Ends a session whose server may not answer any more. */
  #drop(reason?: string): void {
    this.#reason ??= reason
    if (this.#socket.terminate === undefined) this.#socket.close(1000)
    else this.#socket.terminate()
    void this.#clock.sleep(CLOSE_TIMEOUT_MILLIS, this.#ended.signal).then(() => this.#end())
  }

  #receive(data: unknown): void {
    this.#heardAt = this.#clock.now()
    const value = typeof data === "string" ? parseJson(data) : undefined
    if (!isRecord(value)) return this.#drop("the server sent invalid JSON")
    // The shape of a message is trusted.
    const message = value as unknown as ServerMessage
    switch (message.type) {
      case "session.ready":
        this.#isReady = true
        return this.#wakeUp()
      case "event.acknowledged":
        return this.#settle(message.eventId, "acknowledged")
      case "event.ack_stale":
        return this.#settle(message.eventId, "stale")
      case "error":
        this.#reason = message.message
        // The only error about a single acknowledgement names the event in its text.
        for (const eventId of this.#acknowledging.keys())
          if (message.message.includes(eventId)) this.#settle(eventId, "stale")
        return
      default:
        // The next session replays it.
        if (this.#isReplaced) return
        if (this.#handler !== undefined) return this.#handler(message)
        this.#buffer.push(message)
        if (this.#buffer.length >= BUFFER_MAX) this.#pause(true)
        if (this.#isReady) this.#wakeUp()
    }
  }

  #pause(isPaused: boolean): void {
    this.#isPaused = isPaused
    if (isPaused) this.#socket.pause?.()
    else this.#socket.resume?.()
  }

  #settle(eventId: string, outcome: Acknowledged): void {
    const resolve = this.#acknowledging.get(eventId)
    this.#acknowledging.delete(eventId)
    resolve?.(outcome)
  }

  #end(reason?: string): void {
    if (this.#ended.signal.aborted) return
    this.#reason ??= reason
    this.#ended.abort()
    for (const eventId of this.#acknowledging.keys()) this.#settle(eventId, "unknown")
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  /** Drops a socket that does not become a session in time, or that is silent for too long. */
  async #watch(): Promise<void> {
    const { signal } = this.#ended
    await this.#clock.sleep(OPEN_TIMEOUT_MILLIS, signal)
    if (!signal.aborted && !this.#isOpen) return this.#drop("Opening handshake has timed out")
    if (!this.#isReady) await this.#clock.sleep(OPEN_TIMEOUT_MILLIS, signal)
    if (!signal.aborted && !this.#isReady) return this.#drop()
    const limit = this.#socket.on === undefined ? SILENCE_MILLIS : PING_SILENCE_MILLIS
    while (!signal.aborted) {
      const rest = this.#heardAt + limit - this.#clock.now()
      if (rest <= 0) return this.#drop(`no message from the server for ${limit / 1_000} s`)
      await this.#clock.sleep(rest, signal)
    }
  }
}
