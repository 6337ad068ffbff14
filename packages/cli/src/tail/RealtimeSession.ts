import { messageOf, plainLine } from "@agentos/command-line"
import { once } from "node:events"
import type { RealtimeClientMessage, RealtimeServerMessage } from "@agentos/api"
import { type RawData, WebSocket } from "ws"
import { isRecord, parseJson } from "../file/Json.ts"
import { VERSION } from "../Version.ts"
import type { Acknowledged } from "./TailEvent.ts"

const OPEN_TIMEOUT_MILLIS = 10_000
/** More than two of the server's pings, which come every 20 s. */
const SILENCE_LIMIT_MILLIS = 45_000
const CLOSE_TIMEOUT_MILLIS = 1_000
const MESSAGE_LIMIT_BYTES = 16 * 1024 * 1024
/** Unread messages at which the socket is paused. */
const BUFFER_LIMIT = 256

export type SessionMode = "deliver" | "observe" | "voice"

type CallReply = Extract<RealtimeClientMessage, { readonly type: "call.reply" }>

/** A session could not be opened. `isBlocked`: not even the socket opened, for example because of a firewall. */
export class NoSession extends Error {
  override readonly name = "NoSession"
  readonly isBlocked: boolean

  constructor(message: string, isBlocked: boolean) {
    super(message)
    this.isBlocked = isBlocked
  }
}

/** One session of the realtime gateway. */
export class RealtimeSession {
  readonly #socket: WebSocket
  readonly #buffer: Array<RealtimeServerMessage> = []
  /** Unanswered acknowledgements by event. */
  readonly #acknowledging = new Map<string, (outcome: Acknowledged) => void>()
  #wake: (() => void) | undefined
  #silence: NodeJS.Timeout | undefined
  #end: string | undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on("message", (data: RawData) => this.#receive(data))
    socket.on("ping", () => this.#resetSilence())
    socket.on("error", (error) => (this.#end ??= error.message))
    socket.on("close", (code, reason) => this.#ended(code, reason.toString()))
    this.#resetSilence()
  }

  /** Connects and authenticates. Rejects with NoSession. */
  static async open(
    { mode, token, url }: { readonly url: string; readonly token: string; readonly mode: SessionMode },
    stop: AbortSignal
  ): Promise<RealtimeSession> {
    const socket = new WebSocket(url, {
      handshakeTimeout: OPEN_TIMEOUT_MILLIS,
      maxPayload: MESSAGE_LIMIT_BYTES,
      perMessageDeflate: false,
      headers: { "User-Agent": `agentctl/${VERSION}` }
    })
    const abort = () => socket.terminate()
    stop.addEventListener("abort", abort, { once: true })
    try {
      // Listens before the socket is open, so that no message is missed.
      const session = new RealtimeSession(socket)
      await once(socket, "open").catch((error: unknown) => {
        throw new NoSession(messageOf(error), true)
      })
      socket.send(JSON.stringify({ type: "session.authenticate", token, ...(mode === "deliver" ? {} : { mode }) }))
      await session.#ready()
      return session
    } catch (error) {
      socket.terminate()
      throw error
    } finally {
      stop.removeEventListener("abort", abort)
    }
  }

  async #ready(): Promise<void> {
    const timeout = setTimeout(() => this.#socket.terminate(), OPEN_TIMEOUT_MILLIS)
    try {
      for await (const message of this.messages()) if (message.type === "session.ready") return
      throw new NoSession(this.why, false)
    } finally {
      clearTimeout(timeout)
    }
  }

  /** Yields the messages of the server in order until the socket closes. */
  async *messages(): AsyncGenerator<RealtimeServerMessage, void> {
    for (;;) {
      const message = this.#buffer.shift()
      if (message !== undefined) {
        if (this.#socket.isPaused && this.#buffer.length < BUFFER_LIMIT / 2) this.#socket.resume()
        yield message
      } else if (this.#socket.readyState === WebSocket.CLOSED) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** The reason why the session ended, for people. */
  get why(): string {
    return plainLine(this.#end ?? "the connection was closed")
  }

  acknowledge(eventId: string, deliveryId: string): Promise<Acknowledged> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.resolve("unknown")
    return new Promise((resolve) => {
      this.#acknowledging.set(eventId, resolve)
      this.#socket.send(JSON.stringify({ type: "event.ack", eventId, deliveryId }))
    })
  }

  /** Answers a turn of a call. A reply to a closed session is lost; the service then asks the next one. */
  reply(reply: Omit<CallReply, "type">): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ type: "call.reply", ...reply }))
  }

  /** Ends the session. The server releases its leases immediately. */
  async close(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return
    const closed = once(this.#socket, "close")
    const timeout = setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MILLIS)
    this.#socket.close(1000)
    await closed
    clearTimeout(timeout)
  }

  #receive(data: RawData): void {
    this.#resetSilence()
    const value = parseJson(Buffer.isBuffer(data) ? data.toString("utf8") : "")
    if (!isRecord(value)) {
      this.#end = "the server sent invalid JSON"
      return this.#socket.terminate()
    }
    // The shape of a message is trusted.
    const message = value as unknown as RealtimeServerMessage
    switch (message.type) {
      case "event.acknowledged":
        return this.#settle(message.eventId, "acknowledged")
      case "event.ack_stale":
        return this.#settle(message.eventId, "stale")
      case "error":
        this.#end = message.message
        // The only error about a single acknowledgement names the event in its text.
        for (const eventId of this.#acknowledging.keys())
          if (message.message.includes(eventId)) this.#settle(eventId, "stale")
        return
      default:
        this.#buffer.push(message)
        if (this.#buffer.length >= BUFFER_LIMIT) this.#socket.pause()
        return this.#wakeUp()
    }
  }

  #settle(eventId: string, outcome: Acknowledged): void {
    const resolve = this.#acknowledging.get(eventId)
    this.#acknowledging.delete(eventId)
    resolve?.(outcome)
  }

  #ended(code: number, reason: string): void {
    clearTimeout(this.#silence)
    this.#end ??= reason === "" ? `the connection was closed with code ${code}` : `${reason} (${code})`
    for (const eventId of this.#acknowledging.keys()) this.#settle(eventId, "unknown")
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  #resetSilence(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => {
      this.#end = `no message from the server for ${SILENCE_LIMIT_MILLIS / 1_000} s`
      this.#socket.terminate()
    }, SILENCE_LIMIT_MILLIS)
  }
}
