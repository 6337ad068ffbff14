import { AgentOsError } from "../AgentOsError.ts"
import type { Caller } from "../http/Caller.ts"
import type { Settings } from "../Options.ts"
import { followGateway, gatewayOf } from "../realtime/Gateway.ts"
import { Queue } from "../realtime/Queue.ts"
import type { ClientMessage, ServerMessage, Session } from "../realtime/Session.ts"
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
const TURNS_MAX = 64

const unconnected = (why: string): AgentOsError =>
  new AgentOsError({
    code: "UNREACHABLE",
    message: `The voice session was not connected: ${why}. No call was placed.`,
    details: {},
    isRetryable: true
  })

/** A loop over calls. */
interface CallListener {
  readonly phoneNumberId: string | undefined
  readonly queue: Queue<TurnMessage>
}

/** The turns of a call. */
interface CallTurns {
  readonly queue: Queue<Turn>
  /** The turns without a complete answer, by id. */
  readonly open: Map<string, Turn>
  /** Whether a loop over them runs. */
  isTaken: boolean
}

/**
 * The voice session of a client. One session answers all calls of the wallet, because the service gives a call to any
 * session. It is open while a loop over calls or turns runs.
 */
export class Voice {
  readonly #settings: Settings
  readonly #caller: Caller
  readonly #listeners = new Set<CallListener>()
  readonly #calls = new Map<string, CallTurns>()
  /** The turns of outbound calls that wait for a loop. */
  readonly #undecided = new Set<string>()
  /** Ends the session; undefined without a loop. */
  #stop: AbortController | undefined
  #session: Session | undefined
  /** Settled when a session is connected, or none will be. */
  #connected = Promise.withResolvers<void>()
  /** The calls that are being placed by a program that speaks in them. */
  #placing = 0

  constructor(settings: Settings, caller: Caller) {
    this.#settings = settings
    this.#caller = caller
  }

  /** Listens for calls, each by its first turn. */
  listen(phoneNumberId: string | undefined): CallListener {
    const listener = { phoneNumberId, queue: new Queue<TurnMessage>(CALLS_MAX) }
    this.#listeners.add(listener)
    this.#open()
    return listener
  }

  unlisten(listener: CallListener): void {
    this.#listeners.delete(listener)
    listener.queue.close()
    this.#forgetUntaken(0)
    this.#closeUnused()
  }

  /** Takes the turns of a call. */
  take(callId: string): CallTurns {
    const turns = this.#calls.get(callId) ?? this.#add(callId)
    turns.isTaken = true
    this.#open()
    return turns
  }

  release(callId: string): void {
    this.#calls.get(callId)?.queue.close()
    this.#calls.delete(callId)
    this.#closeUnused()
  }

  /**
   * Places a call with the session connected, so that no turn of it comes earlier. The call may begin its loop within a second
   * of the result. Rejects before anything is placed if the session cannot be opened.
   */
  async place<Placed extends { readonly callId: string }>(placing: () => Promise<Placed>): Promise<Placed> {
    this.#placing += 1
    try {
      this.#open()
      const late = this.#settings.clock.sleep(CONNECTED_WITHIN_MILLIS).then(() => {
        throw unconnected(`not within ${CONNECTED_WITHIN_MILLIS / 1_000} s`)
      })
      late.catch(() => undefined)
      await Promise.race([this.#connected.promise, late])
      const placed = await placing()
      const turns = this.#calls.get(placed.callId) ?? this.#add(placed.callId)
      void this.#settings.clock.sleep(LOOP_WITHIN_MILLIS).then(() => {
        if (!turns.isTaken && this.#calls.get(placed.callId) === turns) this.release(placed.callId)
      })
      return placed
    } finally {
      this.#placing -= 1
      this.#closeUnused()
    }
  }

  /** Ends all loops. */
  close(): void {
    for (const { queue } of [...this.#listeners, ...this.#calls.values()]) queue.close()
    this.#disconnect()
  }

  #disconnect(): void {
    this.#stop?.abort()
    this.#stop = undefined
  }

  #add(callId: string): CallTurns {
    const turns = { queue: new Queue<Turn>(TURNS_MAX), open: new Map<string, Turn>(), isTaken: false }
    this.#calls.set(callId, turns)
    return turns
  }

  /** Forgets the oldest calls without a loop, except for some. */
  #forgetUntaken(kept: number): void {
    const untaken = [...this.#calls].filter(([, { isTaken }]) => !isTaken)
    for (const [callId] of untaken.slice(0, Math.max(0, untaken.length - kept))) this.#calls.delete(callId)
  }

  #open(): void {
    if (this.#stop !== undefined) return
    const stop = new AbortController()
    this.#stop = stop
    this.#awaitSession()
    stop.signal.addEventListener("abort", () => this.#connected.reject(unconnected("the client was closed")))
    const follower = {
      mode: "voice" as const,
      serve: (session: Session) => this.#serve(session),
      serveWithoutSocket: undefined
    }
    followGateway(gatewayOf(this.#settings, this.#caller), follower, stop.signal).catch((error: unknown) => {
      if (this.#stop === stop) this.#stop = undefined
      this.#connected.reject(error)
      for (const { queue } of [...this.#listeners, ...this.#calls.values()]) queue.close({ error })
    })
  }

  #closeUnused(): void {
    if (this.#listeners.size > 0 || this.#calls.size > 0 || this.#placing > 0) return
    this.#disconnect()
  }

  async #serve(session: Session): Promise<void> {
    this.#session = session
    this.#connected.resolve()
    await session.receive((message) => this.#receive(message))
    if (this.#session === session) {
      this.#session = undefined
      this.#awaitSession()
    }
    this.#interruptAll()
  }

  #awaitSession(): void {
    this.#connected = Promise.withResolvers<void>()
    // Only a call that is being placed waits for it.
    this.#connected.promise.catch(() => undefined)
  }

  #send(message: ClientMessage): boolean {
    return this.#session?.send(message) ?? false
  }

  #receive(message: ServerMessage): void {
    if (message.type === "call.interrupted") {
      const turns = this.#calls.get(message.callId)
      turns?.open.get(message.turnId)?.interrupt()
      turns?.open.delete(message.turnId)
      turns?.queue.keep(({ id }) => id !== message.turnId)
      this.#undecided.delete(message.turnId)
    }
    if (message.type === "call.turn") this.#addTurn(message)
  }

  #addTurn(message: TurnMessage): void {
    const turns = this.#calls.get(message.callId) ?? this.#announce(message)
    if (turns === undefined) return this.#decline(message)
    const turn = new Turn(message, (reply) => {
      if (reply.more !== true) turns.open.delete(message.turnId)
      return this.#send(reply)
    })
    if (turns.queue.offer(turn)) turns.open.set(message.turnId, turn)
  }

  /** Leaves a call to the next session of the wallet, which may be that of another program. */
  #decline(message: TurnMessage): void {
    const { callId, direction, turnId } = message
    const decline = () => this.#send({ type: "call.reply", callId, turnId, decline: true })
    if (direction === "inbound") return void decline()
    this.#undecided.add(turnId)
    const decide = async (): Promise<void> => {
      do await this.#settings.clock.sleep(LOOP_WITHIN_MILLIS)
      while (this.#placing > 0 && this.#undecided.has(turnId) && !this.#calls.has(callId))
      if (!this.#undecided.delete(turnId)) return
      if (this.#calls.has(callId)) this.#addTurn(message)
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
  #interruptAll(): void {
    this.#undecided.clear()
    for (const { open, queue } of this.#calls.values()) {
      for (const turn of open.values()) turn.interrupt()
      open.clear()
      queue.keep(() => false)
    }
  }
}
