import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { WebSocket } from "ws"
import type { Acknowledgement, Frame, Session } from "../faults/observation/EventHistory.ts"
import type { Random } from "../support/Random.ts"
import type { RealtimeMessage } from "../support/Realtime.ts"
import type { SocketOrder } from "../support/RealtimeRig.ts"
import { type Behavior, type ClientActions, handle } from "./Behavior.ts"

/** The record of all clients. */
export interface ClientLog {
  readonly sessions: Array<Session>
  readonly frames: Array<Frame>
  readonly acknowledgements: Array<Acknowledgement>
  /** How often sockets closed with each code; 1006 means without one. */
  readonly closes: Map<number, number>
}

export interface ClientOptions {
  readonly tenantId: string
  readonly behavior: Behavior
  readonly random: Random
  readonly log: ClientLog
  /** Gets the address and token of a socket on a live server. */
  readonly order: (random: Random) => Promise<SocketOrder>
  /** Acknowledges by REST; undefined if there was no conclusive answer. */
  readonly post: (acknowledgement: Acknowledgement, random: Random) => Promise<Acknowledgement["answer"]>
  /** A delivery of another tenant. */
  readonly foreignDelivery: (random: Random) => Frame | undefined
}

/** An open socket. */
interface Connection {
  readonly url: string
  readonly socket: WebSocket
  readonly wire: () => Socket | undefined
  readonly closed: Promise<void>
  session: Session | undefined
  /** Acknowledgements without an answer, by event, with the deliveries that they are for. */
  readonly unanswered: Map<string, Array<{ readonly acknowledgement: Acknowledgement; readonly frame: Frame }>>
  /** Deliveries that are not handled yet, by event. */
  readonly held: Map<string, Frame>
  isPaused: boolean
}

const READY_MILLIS_MAX = 8_000
const RETRY_MILLIS_MAX = 300
/** Deliveries upon which a client acknowledges an event of another tenant. */
const FOREIGN_PERCENT = 1
/** Lost deliveries that a client tries to acknowledge after it has connected again. */
const LATE_PERCENT = 40
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/
/** The head of a masked text frame of 100 bytes (RFC 6455, section 5.2), and the first of them. */
const HALF_A_FRAME = Buffer.from([0x81, 0x80 | 100, 1, 2, 3, 4, ...Buffer.from('{"type":"event.ack"')])

/** A client with one socket at a time. It connects again when the socket closes, to any live server. */
export class ChaosClient {
  readonly #options: ClientOptions
  #connection: Connection | undefined
  /** Deliveries of the last socket that were not acknowledged. */
  #lost: ReadonlyArray<Frame> = []
  #isPrompt = false
  readonly #ended = new AbortController()
  readonly #posting = new Set<Promise<void>>()
  #running: Promise<void> | undefined

  constructor(options: ClientOptions) {
    this.#options = options
  }

  get tenantId(): string {
    return this.#options.tenantId
  }

  /** A delivery that it has not handled yet. */
  get held(): Frame | undefined {
    return this.#connection?.held.values().next().value
  }

  get isConnected(): boolean {
    return this.#connection?.session !== undefined
  }

  get isAnswered(): boolean {
    return (this.#connection?.unanswered.size ?? 0) === 0 && this.#posting.size === 0
  }

  start(): void {
    this.#running = this.#run()
  }

  /** From now on acknowledges everything at once, held deliveries first. */
  becomePrompt(): void {
    this.#isPrompt = true
    const connection = this.#connection
    if (connection === undefined) return
    this.#resume(connection)
    for (const frame of connection.held.values()) this.#acknowledge(connection, frame, true)
  }

  /** Cuts the connection. */
  cut(isMidFrame: boolean): void {
    const connection = this.#connection
    const wire = connection?.wire()
    if (connection?.session === undefined || wire === undefined) return
    connection.session.closedAt ??= Date.now()
    if (isMidFrame) wire.write(HALF_A_FRAME)
    wire.destroy()
  }

  /** Ends the client. Its session counts as open at the end. */
  async stop(): Promise<void> {
    this.#ended.abort()
    this.#connection?.socket.terminate()
    await this.#running
    await Promise.all(this.#posting)
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      try {
        const connection = this.#connect(await this.#options.order(this.#options.random))
        await connection.closed
      } finally {
        this.#connection = undefined
      }
      await this.#wait(this.#options.random.integer(RETRY_MILLIS_MAX))
    }
  }

  #wait(millis: number): Promise<void> {
    return sleep(millis, undefined, { signal: this.#ended.signal }).catch(() => undefined)
  }

  #connect({ token, url }: SocketOrder): Connection {
    let wire: Socket | undefined
    const { hostname, port } = new URL(url)
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      createConnection: () => (wire = connect(Number(port), hostname))
    })
    const connection: Connection = {
      url,
      socket,
      wire: () => wire,
      closed: new Promise((resolve) => {
        socket.once("close", (code) => {
          this.#close(connection, code)
          resolve()
        })
      }),
      session: undefined,
      unanswered: new Map(),
      held: new Map(),
      isPaused: false
    }
    this.#connection = connection
    const timeout = setTimeout(() => {
      if (connection.session === undefined) socket.terminate()
    }, READY_MILLIS_MAX)
    socket.on("close", () => clearTimeout(timeout))
    // Every error is followed by a close event.
    socket.on("error", () => undefined)
    socket.on("open", () => socket.send(JSON.stringify({ type: "session.authenticate", token })))
    socket.on("message", (data: Buffer) => this.#receive(connection, JSON.parse(data.toString("utf8"))))
    return connection
  }

  #close({ held, session, unanswered }: Connection, code: number): void {
    if (this.#ended.signal.aborted) return
    if (session !== undefined) session.closedAt ??= Date.now()
    const { log, tenantId } = this.#options
    log.closes.set(code, (log.closes.get(code) ?? 0) + 1)
    const sent = [...unanswered.values()].flatMap((all) => all.map(({ frame }) => frame))
    this.#lost = [...held.values(), ...sent].filter((frame) => frame.tenantId === tenantId)
  }

  #receive(connection: Connection, message: RealtimeMessage): void {
    const at = Date.now()
    // Data that is still read from a cut connection does not count.
    if (connection.session?.closedAt !== undefined) return
    switch (message.type) {
      case "session.ready":
        return this.#begin(connection, message.sessionId ?? "")
      case "event.delivery":
        return this.#take(connection, message, at)
      case "event.acknowledged":
        return this.#settle(connection, message.eventId ?? "", "acknowledged", at)
      case "event.ack_stale":
        return this.#settle(connection, message.eventId ?? "", "stale", at)
      case "error":
        return this.#settle(connection, UUID.exec(message.message ?? "")?.[0] ?? "", "missing", at)
      default:
        return undefined
    }
  }

  #begin(connection: Connection, sessionId: string): void {
    const { log, random, tenantId } = this.#options
    connection.session = { sessionId, tenantId, server: connection.url, closedAt: undefined }
    log.sessions.push(connection.session)
    for (const frame of this.#lost) {
      if (random.integer(100) < LATE_PERCENT) this.#acknowledge(connection, frame, random.integer(3) > 0)
    }
    this.#lost = []
  }

  #take(connection: Connection, { deliveryId = "", event }: RealtimeMessage, at: number): void {
    const { behavior, foreignDelivery, log, random, tenantId } = this.#options
    if (connection.session === undefined || event === undefined) return
    const frame: Frame = {
      sessionId: connection.session.sessionId,
      tenantId,
      eventId: event.eventId,
      deliveryId,
      deliveryCount: event.deliveryCount,
      createdAt: Date.parse(event.createdAt),
      mark: event.resourceId,
      at
    }
    log.frames.push(frame)
    connection.held.set(frame.eventId, frame)
    handle(this.#isPrompt ? "prompt" : behavior, frame, this.#actionsOn(connection), random)
    const foreign = random.integer(100) < FOREIGN_PERCENT ? foreignDelivery(random) : undefined
    if (foreign !== undefined) this.#acknowledge(connection, foreign, random.integer(2) === 0)
  }

  #actionsOn(connection: Connection): ClientActions {
    const { random } = this.#options
    const ifOpen = (then: () => void) => () => {
      if (this.#connection === connection) then()
    }
    return {
      acknowledge: (frame, isNamed) => {
        if (connection.held.get(frame.eventId) === frame) this.#acknowledge(connection, frame, isNamed)
      },
      acknowledgeByRest: (frame) => {
        const posting = this.#post(frame, random).finally(() => this.#posting.delete(posting))
        this.#posting.add(posting)
      },
      later: (millis, then) => void setTimeout(ifOpen(then), millis).unref(),
      pause: (millis) => {
        if (connection.isPaused || this.#isPrompt) return
        connection.isPaused = true
        connection.socket.pause()
        setTimeout(
          ifOpen(() => this.#resume(connection)),
          millis
        ).unref()
      }
    }
  }

  #resume(connection: Connection): void {
    connection.isPaused = false
    connection.socket.resume()
  }

  /** Sends an acknowledgement, unless the socket is closed. */
  #acknowledge(connection: Connection, frame: Frame, isNamed: boolean): void {
    const { eventId } = frame
    const { held, session, socket, unanswered } = connection
    if (session === undefined || session.closedAt !== undefined || socket.readyState !== WebSocket.OPEN) return
    const deliveryId = isNamed ? frame.deliveryId : undefined
    if (held.get(eventId)?.deliveryId === frame.deliveryId) held.delete(eventId)
    const acknowledgement = this.#record({ eventId, deliveryId, sessionId: session.sessionId })
    unanswered.set(eventId, [...(unanswered.get(eventId) ?? []), { acknowledgement, frame }])
    socket.send(JSON.stringify({ type: "event.ack", eventId, ...(isNamed ? { deliveryId } : {}) }))
  }

  /** Assigns an answer to the oldest unanswered acknowledgement of the event: a session answers them in order. */
  #settle({ unanswered }: Connection, eventId: string, answer: Acknowledgement["answer"], at: number): void {
    const waiting = unanswered.get(eventId)
    const acknowledgement = waiting?.shift()?.acknowledgement
    if (acknowledgement === undefined) return
    if (waiting?.length === 0) unanswered.delete(eventId)
    acknowledgement.answer = answer
    acknowledgement.answeredAt = at
  }

  async #post(frame: Frame, random: Random): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const acknowledgement = this.#record({ eventId: frame.eventId, deliveryId: undefined, sessionId: undefined })
      const answer = await this.#options.post(acknowledgement, random)
      if (answer !== undefined) {
        acknowledgement.answer = answer
        acknowledgement.answeredAt = Date.now()
        this.#connection?.held.delete(frame.eventId)
        return
      }
      await this.#wait(random.integer(RETRY_MILLIS_MAX))
    }
  }

  #record(what: Pick<Acknowledgement, "eventId" | "deliveryId" | "sessionId">): Acknowledgement {
    const { log, tenantId } = this.#options
    const acknowledgement = { ...what, tenantId, sentAt: Date.now(), answer: undefined, answeredAt: undefined }
    log.acknowledgements.push(acknowledgement)
    return acknowledgement
  }
}
