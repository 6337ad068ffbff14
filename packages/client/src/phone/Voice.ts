import { AgentOsError } from "../AgentOsError.ts"
import type { Caller } from "../http/Caller.ts"
import type { Settings } from "../Options.ts"
import { followGateway, gatewayOf } from "../realtime/Gateway.ts"
import { Queue } from "../realtime/Queue.ts"
import type { ServerMessage, Session } from "../realtime/Session.ts"
import { Turn, type TurnMessage } from "./Turn.ts"

/**
 * How long a turn of an outbound call waits for a loop over its turns, before the session declines it: a program that
 * places a call begins the loop when it has the answer.
 */
const LOOP_WITHIN_MILLIS = 1_000
/** How long a call that the program speaks in waits for the session before it is placed. */
const CONNECTED_WITHIN_MILLIS = 15_000
/** Calls that wait for a loop, and turns that wait for the loop of their call. */
const CALLS_MAX = 64
/** Sessions for one number each. Further numbers share the one for all: the service limits the sessions of a wallet. */
const LINES_MAX = 16
const TURNS_MAX = 64

const unconnected = (why: string): AgentOsError =>
  new AgentOsError({
    code: "UNREACHABLE",
    message: `The voice session was not connected: ${why}. No call was placed.`,
    isRetryable: true
  })

/** A loop over calls. */
interface CallListener {
  readonly phoneNumberId: string | undefined
  readonly queue: Queue<TurnMessage>
  readonly line: Line
}

interface CallTurns {
  readonly queue: Queue<Turn>
  /** The turns without a complete answer, by id. */
  readonly open: Map<string, Turn>
  /** The session that answers the call; undefined before a loop over its turns runs. */
  line: Line | undefined
  /** Whether a loop over them runs. */
  isTaken: boolean
}

/** The voice session for one number, or for all numbers of the wallet. It is opened again whenever it ends. */
interface Line {
  readonly phoneNumberId: string | undefined
  readonly stop: AbortController
  session: Session | undefined
  /** Settled when a session is connected, or none will be. */
  connected: ReturnType<typeof Promise.withResolvers<void>>
}

const newConnected = (): Line["connected"] => {
  const connected = Promise.withResolvers<void>()
  // Only a call that is being placed waits for it.
  connected.promise.catch(() => undefined)
  return connected
}

/**
 * The voice sessions of a client. A session names the number that it answers, so that the service offers it no calls of
 * others; a loop over the calls of all numbers has one for all. It is open while a loop over its calls or their turns runs.
 */
export class Voice {
  readonly #settings: Settings
  readonly #caller: Caller
  readonly #listeners = new Set<CallListener>()
  readonly #calls = new Map<string, CallTurns>()
  /** By number; under undefined, the one for all numbers. */
  readonly #lines = new Map<string | undefined, Line>()
  /** The turns of outbound calls that wait for a loop. */
  readonly #undecided = new Set<string>()
  /** The lines of calls that are being placed by a program that speaks in them. */
  readonly #placing: Array<Line> = []

  constructor(settings: Settings, caller: Caller) {
    this.#settings = settings
    this.#caller = caller
  }

  /** Listens for calls, each by its first turn. */
  listen(phoneNumberId: string | undefined): CallListener {
    const listener = { phoneNumberId, queue: new Queue<TurnMessage>(CALLS_MAX), line: this.#open(phoneNumberId) }
    this.#listeners.add(listener)
    return listener
  }

  unlisten(listener: CallListener): void {
    this.#listeners.delete(listener)
    listener.queue.close()
    this.#forgetUntaken(0)
    this.#closeUnused()
  }

  take(callId: string, phoneNumberId: string): CallTurns {
    const turns = this.#calls.get(callId) ?? this.#add(callId)
    turns.isTaken = true
    turns.line ??= this.#lines.get(undefined) ?? this.#open(phoneNumberId)
    return turns
  }

  release(callId: string): void {
    this.#calls.get(callId)?.queue.close()
    this.#calls.delete(callId)
    this.#closeUnused()
  }

  /**
   * Places a call of a number with its session connected, so that no turn of it comes earlier. The call may begin its loop
   * within a second of the result. Rejects before anything is placed if the session cannot be opened.
   */
  async place<Placed extends { readonly callId: string }>(
    phoneNumberId: string,
    placing: () => Promise<Placed>
  ): Promise<Placed> {
    const line = this.#lines.get(undefined) ?? this.#open(phoneNumberId)
    this.#placing.push(line)
    try {
      const late = this.#settings.clock.sleep(CONNECTED_WITHIN_MILLIS).then(() => {
        throw unconnected(`not within ${CONNECTED_WITHIN_MILLIS / 1_000} s`)
      })
      late.catch(() => undefined)
      await Promise.race([line.connected.promise, late])
      const placed = await placing()
      const turns = this.#calls.get(placed.callId) ?? this.#add(placed.callId)
      turns.line ??= line
      void this.#settings.clock.sleep(LOOP_WITHIN_MILLIS).then(() => {
        if (!turns.isTaken && this.#calls.get(placed.callId) === turns) this.release(placed.callId)
      })
      return placed
    } finally {
      this.#placing.splice(this.#placing.indexOf(line), 1)
      this.#closeUnused()
    }
  }

  /** Ends all loops. */
  close(): void {
    for (const { queue } of [...this.#listeners, ...this.#calls.values()]) queue.close()
    for (const line of this.#lines.values()) this.#disconnect(line)
  }

  #disconnect(line: Line): void {
    if (this.#lines.get(line.phoneNumberId) === line) this.#lines.delete(line.phoneNumberId)
    line.stop.abort()
  }

  #add(callId: string): CallTurns {
    const turns: CallTurns = {
      queue: new Queue<Turn>(TURNS_MAX),
      open: new Map<string, Turn>(),
      line: undefined,
      isTaken: false
    }
    this.#calls.set(callId, turns)
    return turns
  }

  /** Forgets the oldest calls without a loop, except for some. */
  #forgetUntaken(kept: number): void {
    const untaken = [...this.#calls].filter(([, { isTaken }]) => !isTaken)
    for (const [callId] of untaken.slice(0, Math.max(0, untaken.length - kept))) this.#calls.delete(callId)
  }

  #open(wanted: string | undefined): Line {
    const phoneNumberId = this.#lines.has(wanted) || this.#lines.size < LINES_MAX ? wanted : undefined
    const known = this.#lines.get(phoneNumberId)
    if (known !== undefined) return known
    const stop = new AbortController()
    const line: Line = { phoneNumberId, stop, session: undefined, connected: newConnected() }
    this.#lines.set(phoneNumberId, line)
    stop.signal.addEventListener("abort", () => line.connected.reject(unconnected("the client was closed")))
    const follower = {
      mode: "voice" as const,
      phoneNumberIds: phoneNumberId === undefined ? undefined : [phoneNumberId],
      serve: (session: Session) => this.#serve(line, session),
      serveWithoutSocket: undefined
    }
    followGateway(gatewayOf(this.#settings, this.#caller), follower, stop.signal).catch((error: unknown) => {
      if (this.#lines.get(phoneNumberId) === line) this.#lines.delete(phoneNumberId)
      line.connected.reject(error)
      for (const one of [...this.#listeners, ...this.#calls.values()]) if (one.line === line) one.queue.close({ error })
    })
    return line
  }

  #closeUnused(): void {
    for (const line of this.#lines.values()) {
      const isUsed = [...this.#listeners, ...this.#calls.values()].some((one) => one.line === line)
      if (!isUsed && !this.#placing.includes(line)) this.#disconnect(line)
    }
  }

  async #serve(line: Line, session: Session): Promise<void> {
    line.session = session
    line.connected.resolve()
    await session.receive((message) => this.#receive(line, message))
    if (line.session === session) {
      line.session = undefined
      line.connected = newConnected()
    }
    this.#interruptAll(line)
  }

  #receive(line: Line, message: ServerMessage): void {
    if (message.type === "call.interrupted") {
      const turns = this.#calls.get(message.callId)
      turns?.open.get(message.turnId)?.interrupt()
      turns?.open.delete(message.turnId)
      turns?.queue.keep(({ id }) => id !== message.turnId)
      this.#undecided.delete(message.turnId)
    }
    if (message.type === "call.turn") this.#addTurn(line, message)
  }

  #addTurn(line: Line, message: TurnMessage): void {
    const turns = this.#calls.get(message.callId) ?? this.#announce(message)
    if (turns === undefined) return this.#decline(line, message)
    turns.line = line
    const turn = new Turn(message, (reply) => {
      if (reply.more !== true) turns.open.delete(message.turnId)
      return line.session?.send(reply) ?? false
    })
    if (turns.queue.offer(turn)) turns.open.set(message.turnId, turn)
  }

  /** Leaves a call to the next session of the wallet, which may be that of another program. */
  #decline(line: Line, message: TurnMessage): void {
    const { callId, direction, turnId } = message
    const decline = () => line.session?.send({ type: "call.reply", callId, turnId, decline: true })
    if (direction === "inbound") return void decline()
    this.#undecided.add(turnId)
    const decide = async (): Promise<void> => {
      do await this.#settings.clock.sleep(LOOP_WITHIN_MILLIS)
      while (this.#placing.length > 0 && this.#undecided.has(turnId) && !this.#calls.has(callId))
      if (!this.#undecided.delete(turnId)) return
      if (this.#calls.has(callId)) this.#addTurn(line, message)
      else decline()
    }
    void decide()
  }

  /** Passes a new call to the loop over calls that wants it. */
  #announce(message: TurnMessage): CallTurns | undefined {
    for (const { phoneNumberId, queue } of this.#listeners) {
      if (phoneNumberId !== undefined && phoneNumberId !== message.phoneNumberId) continue
      if (!queue.offer(message)) continue
      this.#forgetUntaken(CALLS_MAX)
      return this.#add(message.callId)
    }
    return undefined
  }

  /** Ends the open turns of a session that closed. The service asks those without an answer again. */
  #interruptAll(line: Line): void {
    this.#undecided.clear()
    for (const turns of this.#calls.values()) {
      if (turns.line !== line) continue
      for (const turn of turns.open.values()) turn.interrupt()
      turns.open.clear()
      turns.queue.keep(() => false)
    }
  }
}
