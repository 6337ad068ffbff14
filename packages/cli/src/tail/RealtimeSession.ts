import { once } from "node:events"
import { type RawData, WebSocket } from "ws"
import type { RealtimeServerMessage } from "@agentos/api"
import { isRecord } from "../file/JsonValue.ts"
import { plainLine } from "../output/Plain.ts"
import { VERSION } from "../Version.ts"
import type { Acknowledged } from "./Delivery.ts"

const OPEN_MILLIS = 10_000
/** The server asks every 20 s whether somebody is there: more than two such spans without a word, and it is not. */
const SILENCE_MILLIS = 45_000
const CLOSE_MILLIS = 1_000
const MESSAGE_LIMIT_BYTES = 16 * 1024 * 1024
/** Messages that may wait for their reader before the socket is read no further. */
const WAITING_LIMIT = 256

/** Why there is no session. `isBlocked`: not even a socket came about, as where something in between lets none through. */
export class NoSession extends Error {
  override readonly name = "NoSession"
  readonly isBlocked: boolean

  constructor(message: string, isBlocked: boolean) {
    super(message)
    this.isBlocked = isBlocked
  }
}

/** Where to connect, and as whom. */
export interface SocketOrder {
  readonly url: string
  readonly token: string
  readonly mode: "deliver" | "observe"
}

const parsed = (data: RawData): Readonly<Record<string, unknown>> => {
  const value: unknown = JSON.parse(Buffer.isBuffer(data) ? data.toString("utf8") : "")
  if (isRecord(value)) return value
  throw new SyntaxError("no object")
}

/** One session of the realtime gateway. */
export class RealtimeSession {
  readonly #socket: WebSocket
  readonly #waiting: Array<RealtimeServerMessage> = []
  /** Acknowledgements that are not answered yet, by event. */
  readonly #acknowledging = new Map<string, (outcome: Acknowledged) => void>()
  #wake: (() => void) | undefined
  #silence: NodeJS.Timeout | undefined
  #end: string | undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on("message", (data: RawData) => this.#hear(data))
    socket.on("ping", () => this.#listen())
    socket.on("error", (error) => (this.#end ??= error.message))
    socket.on("close", (code, reason) => this.#ended(code, reason.toString()))
    this.#listen()
  }

  /** Connects and authenticates; rejects with NoSession. */
  static async open({ mode, token, url }: SocketOrder, stop: AbortSignal): Promise<RealtimeSession> {
    const socket = new WebSocket(url, {
      handshakeTimeout: OPEN_MILLIS,
      maxPayload: MESSAGE_LIMIT_BYTES,
      perMessageDeflate: false,
      headers: { "User-Agent": `agentctl/${VERSION}` }
    })
    const cut = () => socket.terminate()
    stop.addEventListener("abort", cut, { once: true })
    try {
      // Before it is open, so that nothing that comes with the answer is missed.
      const session = new RealtimeSession(socket)
      await once(socket, "open").catch((error: unknown) => {
        throw new NoSession(error instanceof Error ? error.message : String(error), true)
      })
      socket.send(JSON.stringify({ type: "session.authenticate", token, ...(mode === "observe" ? { mode } : {}) }))
      await session.#ready()
      return session
    } catch (error) {
      socket.terminate()
      throw error
    } finally {
      stop.removeEventListener("abort", cut)
    }
  }

  async #ready(): Promise<void> {
    const tooLong = setTimeout(() => this.#socket.terminate(), OPEN_MILLIS)
    try {
      for await (const message of this.messages()) if (message.type === "session.ready") return
      throw new NoSession(this.why, false)
    } finally {
      clearTimeout(tooLong)
    }
  }

  /** What the server says, in order, until the socket closes. */
  async *messages(): AsyncGenerator<RealtimeServerMessage, void> {
    for (;;) {
      const message = this.#waiting.shift()
      if (message !== undefined) {
        if (this.#socket.isPaused && this.#waiting.length < WAITING_LIMIT / 2) this.#socket.resume()
        yield message
      } else if (this.#socket.readyState === WebSocket.CLOSED) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Why the session is over, for people. */
  get why(): string {
    return plainLine(this.#end ?? "it was closed")
  }

  /** Says that this delivery is handled. */
  acknowledge(eventId: string, deliveryId: string): Promise<Acknowledged> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.resolve("unknown")
    return new Promise((resolve) => {
      this.#acknowledging.set(eventId, resolve)
      this.#socket.send(JSON.stringify({ type: "event.ack", eventId, deliveryId }))
    })
  }

  /** Ends the session; the server gives its leases back at once. */
  async close(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return
    const closed = once(this.#socket, "close")
    const tooLong = setTimeout(() => this.#socket.terminate(), CLOSE_MILLIS)
    this.#socket.close(1000)
    await closed
    clearTimeout(tooLong)
  }

  #hear(data: RawData): void {
    this.#listen()
    let message: RealtimeServerMessage
    try {
      // The server is trusted for the shape of what it says.
      message = parsed(data) as RealtimeServerMessage
    } catch {
      this.#end = "the server said something that is no JSON"
      return this.#socket.terminate()
    }
    switch (message.type) {
      case "event.acknowledged":
        return this.#answer(message.eventId, "acknowledged")
      case "event.ack_stale":
        return this.#answer(message.eventId, "stale")
      case "error":
        this.#end = message.message
        // The only error about one acknowledgement, which it names in its text.
        for (const eventId of this.#acknowledging.keys())
          if (message.message.includes(eventId)) this.#answer(eventId, "stale")
        return
      default:
        this.#waiting.push(message)
        if (this.#waiting.length >= WAITING_LIMIT) this.#socket.pause()
        return this.#wakeUp()
    }
  }

  #answer(eventId: string, outcome: Acknowledged): void {
    const answered = this.#acknowledging.get(eventId)
    this.#acknowledging.delete(eventId)
    answered?.(outcome)
  }

  #ended(code: number, reason: string): void {
    clearTimeout(this.#silence)
    this.#end ??= reason === "" ? `it was closed with ${code}` : `${reason} (${code})`
    for (const eventId of this.#acknowledging.keys()) this.#answer(eventId, "unknown")
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  #listen(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => {
      this.#end = "the server has fallen silent"
      this.#socket.terminate()
    }, SILENCE_MILLIS)
  }
}
