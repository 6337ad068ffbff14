import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { WebSocket } from "ws"
import type { Random } from "../race/Random.ts"
import type { RealtimeMessage } from "../support/Realtime.ts"
import type { SocketOrder } from "../support/RealtimeRig.ts"
import { type Connection, HALF_A_FRAME, settle } from "./ClientConnection.ts"
import type { Acknowledgement, Frame, SeenSession } from "./History.ts"
import { type Hands, type Manner, treat } from "./Manner.ts"

/** What clients write down, all into one book. */
export interface ClientLog {
  readonly sessions: Array<SeenSession>
  readonly frames: Array<Frame>
  readonly acknowledgements: Array<Acknowledgement>
  /** How often sockets were closed with each code; 1006 is none. */
  readonly closes: Map<number, number>
}

export interface ClientSetting {
  readonly tenantId: string
  readonly manner: Manner
  readonly random: Random
  readonly log: ClientLog
  /** What opens a socket on some server that lives. */
  readonly order: (random: Random) => Promise<SocketOrder>
  /** Acknowledges by REST at some server that lives; undefined when there was no answer to build on. */
  readonly post: (acknowledgement: Acknowledgement, random: Random) => Promise<Acknowledgement["answer"]>
  /** A delivery that another tenant got. */
  readonly strange: (random: Random) => Frame | undefined
}

/** How long a server may take to open a session, before the client tries another. */
const READY_MILLIS = 8_000
/** Pauses before a client connects again, and before it repeats a request. */
const AGAIN_MILLIS = 300
/** In a hundred: deliveries upon which a client acknowledges another's, and those whose late acknowledgement it tries after a cut. */
const STRANGE_IN_HUNDRED = 1
const LATE_IN_HUNDRED = 40
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/**
 * A client with one socket at a time. When that is gone it connects again, to whichever server lives, and may then
 * still try to acknowledge what it had before.
 */
export class ChaosClient {
  readonly #setting: ClientSetting
  #connection: Connection | undefined
  /** What it had when its socket went, or had acknowledged to no avail. */
  #lost: ReadonlyArray<Frame> = []
  #isCalm = false
  readonly #over = new AbortController()
  readonly #posting = new Set<Promise<void>>()
  #living: Promise<void> | undefined

  constructor(setting: ClientSetting) {
    this.#setting = setting
  }

  get tenantId(): string {
    return this.#setting.tenantId
  }

  /** Something that it has been delivered, and has done nothing about so far. */
  get held(): Frame | undefined {
    return this.#connection?.held.values().next().value
  }

  get isConnected(): boolean {
    return this.#connection?.session !== undefined
  }

  /** Whether all that it sent over its socket, and by REST, has been answered. */
  get isAnswered(): boolean {
    return (this.#connection?.unanswered.size ?? 0) === 0 && this.#posting.size === 0
  }

  start(): void {
    this.#living = this.#live()
  }

  /** From now on it acknowledges everything at once, what it holds to begin with. */
  calm(): void {
    this.#isCalm = true
    const connection = this.#connection
    if (connection === undefined) return
    this.#resume(connection)
    for (const frame of connection.held.values()) this.#acknowledge(connection, frame, true)
  }

  /** Cuts the line, in the middle of a frame that it sends if it is told so. */
  cut(isMidFrame: boolean): void {
    const connection = this.#connection
    const wire = connection?.wire()
    if (connection?.session === undefined || wire === undefined) return
    connection.session.closedAt ??= Date.now()
    if (isMidFrame) wire.write(HALF_A_FRAME)
    wire.destroy()
  }

  /** Ends it. A session that is open counts as one that was open at the end. */
  async stop(): Promise<void> {
    this.#over.abort()
    this.#connection?.socket.terminate()
    await this.#living
    await Promise.all(this.#posting)
  }

  async #live(): Promise<void> {
    while (!this.#over.signal.aborted) {
      try {
        const connection = this.#connect(await this.#setting.order(this.#setting.random))
        await connection.closed
      } finally {
        this.#connection = undefined
      }
      await this.#pause(this.#setting.random.integer(AGAIN_MILLIS))
    }
  }

  #pause(millis: number): Promise<void> {
    return sleep(millis, undefined, { signal: this.#over.signal }).catch(() => undefined)
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
    const impatience = setTimeout(() => {
      if (connection.session === undefined) socket.terminate()
    }, READY_MILLIS)
    socket.on("close", () => clearTimeout(impatience))
    // What goes wrong on a socket ends in its close event.
    socket.on("error", () => undefined)
    socket.on("open", () => socket.send(JSON.stringify({ type: "session.authenticate", token })))
    socket.on("message", (data: Buffer) => this.#receive(connection, JSON.parse(data.toString("utf8"))))
    return connection
  }

  #close({ held, session, unanswered }: Connection, code: number): void {
    if (this.#over.signal.aborted) return
    if (session !== undefined) session.closedAt ??= Date.now()
    const { log, tenantId } = this.#setting
    log.closes.set(code, (log.closes.get(code) ?? 0) + 1)
    const sent = [...unanswered.values()].flatMap((all) => all.map(({ frame }) => frame))
    this.#lost = [...held.values(), ...sent].filter((frame) => frame.tenantId === tenantId)
  }

  #receive(connection: Connection, message: RealtimeMessage): void {
    const at = Date.now()
    // What is read of a line that was cut before was never received.
    if (connection.session?.closedAt !== undefined) return
    switch (message.type) {
      case "session.ready":
        return this.#begin(connection, message.sessionId ?? "")
      case "event.delivery":
        return this.#take(connection, message, at)
      case "event.acknowledged":
        return settle(connection, message.eventId ?? "", "acknowledged", at)
      case "event.ack_stale":
        return settle(connection, message.eventId ?? "", "stale", at)
      case "error":
        return settle(connection, UUID.exec(message.message ?? "")?.[0] ?? "", "missing", at)
      default:
        return undefined
    }
  }

  #begin(connection: Connection, sessionId: string): void {
    const { log, random, tenantId } = this.#setting
    connection.session = { sessionId, tenantId, server: connection.url, closedAt: undefined }
    log.sessions.push(connection.session)
    for (const frame of this.#lost) {
      if (random.integer(100) < LATE_IN_HUNDRED) this.#acknowledge(connection, frame, random.integer(3) > 0)
    }
    this.#lost = []
  }

  #take(connection: Connection, { deliveryId = "", event }: RealtimeMessage, at: number): void {
    const { log, manner, random, tenantId } = this.#setting
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
    treat(this.#isCalm ? "prompt" : manner, frame, this.#handsOn(connection), random)
    const strange = random.integer(100) < STRANGE_IN_HUNDRED ? this.#setting.strange(random) : undefined
    if (strange !== undefined) this.#acknowledge(connection, strange, random.integer(2) === 0)
  }

  #handsOn(connection: Connection): Hands {
    const { random } = this.#setting
    const whileOpen = (then: () => void) => () => {
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
      later: (millis, then) => void setTimeout(whileOpen(then), millis).unref(),
      pause: (millis) => {
        if (connection.isPaused || this.#isCalm) return
        connection.isPaused = true
        connection.socket.pause()
        setTimeout(
          whileOpen(() => this.#resume(connection)),
          millis
        ).unref()
      }
    }
  }

  #resume(connection: Connection): void {
    connection.isPaused = false
    connection.socket.resume()
  }

  /** Over the socket, unless that is closed. */
  #acknowledge(connection: Connection, frame: Frame, isNamed: boolean): void {
    const { eventId } = frame
    const { session, socket, unanswered } = connection
    if (session === undefined || session.closedAt !== undefined || socket.readyState !== WebSocket.OPEN) return
    const deliveryId = isNamed ? frame.deliveryId : undefined
    if (connection.held.get(eventId)?.deliveryId === frame.deliveryId) connection.held.delete(eventId)
    const acknowledgement = this.#write({ eventId, deliveryId, sessionId: session.sessionId })
    const others = unanswered.get(eventId)
    if (others === undefined) unanswered.set(eventId, [{ acknowledgement, frame }])
    else others.push({ acknowledgement, frame })
    socket.send(JSON.stringify({ type: "event.ack", eventId, ...(isNamed ? { deliveryId } : {}) }))
  }

  /** Until it is answered: who holds a delivery and says nothing keeps it. */
  async #post(frame: Frame, random: Random): Promise<void> {
    while (!this.#over.signal.aborted) {
      const acknowledgement = this.#write({ eventId: frame.eventId, deliveryId: undefined, sessionId: undefined })
      const answer = await this.#setting.post(acknowledgement, random)
      if (answer !== undefined) {
        acknowledgement.answer = answer
        acknowledgement.answeredAt = Date.now()
        this.#connection?.held.delete(frame.eventId)
        return
      }
      await this.#pause(random.integer(AGAIN_MILLIS))
    }
  }

  #write(what: Pick<Acknowledgement, "eventId" | "deliveryId" | "sessionId">): Acknowledgement {
    const { log, tenantId } = this.#setting
    const acknowledgement: Acknowledgement = {
      ...what,
      tenantId,
      sentAt: Date.now(),
      answer: undefined,
      answeredAt: undefined
    }
    log.acknowledgements.push(acknowledgement)
    return acknowledgement
  }
}
