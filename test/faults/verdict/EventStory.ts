import type {
  Acknowledgement,
  Append,
  EventHistory,
  Frame,
  LeaseChange,
  LeaseState,
  RolledBack,
  Session
} from "../observation/EventHistory.ts"

export const LEASE_MILLIS = 6_000
/** Between two steps. */
const STEP_MILLIS = 10

const PENDING: LeaseState = { status: "pending", sessionId: null, deliveryId: null, leasedUntil: null }

interface Stored {
  readonly tenantId: string
  readonly createdAt: number
  state: LeaseState
  deliveryCount: number
}

/** Builds an event history step by step. It keeps every invariant unless a step breaks one. */
export class EventStory {
  readonly appends: Array<Append> = []
  readonly sessions: Array<Session> = []
  readonly frames: Array<Frame> = []
  readonly acknowledgements: Array<Acknowledgement> = []
  readonly changes: Array<LeaseChange> = []
  readonly rolledBack: Array<RolledBack> = []
  readonly #events = new Map<string, Stored>()
  #now = 1_000
  #deliveries = 0

  get now(): number {
    return this.#now
  }

  pass(millis: number): this {
    this.#now += millis
    return this
  }

  #step(): number {
    return this.pass(STEP_MILLIS).#now
  }

  /** Stores events of one tenant in one call. */
  store(tenantId: string, ...eventIds: ReadonlyArray<string>): this {
    const [calledAt, createdAt, returnedAt] = [this.#step(), this.#step(), this.#step()]
    for (const eventId of eventIds) this.#events.set(eventId, { tenantId, createdAt, state: PENDING, deliveryCount: 0 })
    const events = eventIds.map((eventId) => ({ tenantId, eventId, createdAt, mark: eventId }))
    this.appends.push({ calledAt, returnedAt, events })
    return this
  }

  open(tenantId: string, ...sessionIds: ReadonlyArray<string>): this {
    for (const sessionId of sessionIds) this.sessions.push({ sessionId, tenantId, server: "", closedAt: undefined })
    return this
  }

  /** Closes the session at its client. */
  close(sessionId: string): this {
    const session = this.sessions.find((each) => each.sessionId === sessionId)
    if (session !== undefined) session.closedAt = this.#step()
    return this
  }

  /** Changes an event in the database. */
  change(eventId: string, after: Partial<LeaseState>, transaction = this.changes.length): this {
    const event = this.#event(eventId)
    const startedAt = this.#step()
    const before = event.state
    event.state = { ...before, ...after }
    this.changes.push({ eventId, transaction, startedAt, at: this.#now, before, after: event.state })
    return this
  }

  /** Leases events to a session in one statement. Returns the delivery ids. */
  lease(sessionId: string, ...eventIds: ReadonlyArray<string>): ReadonlyArray<string> {
    const transaction = this.changes.length
    return eventIds.map((eventId) => {
      const deliveryId = `delivery ${++this.#deliveries}`
      this.#event(eventId).deliveryCount++
      const leasedUntil = this.#now + LEASE_MILLIS
      this.change(eventId, { status: "delivered", sessionId, deliveryId, leasedUntil }, transaction)
      return deliveryId
    })
  }

  /** Lets a delivery arrive at the client. */
  arrive(sessionId: string, eventId: string, deliveryId: string, different: Partial<Frame> = {}): this {
    const event = this.#events.get(eventId)
    const tenantId = this.sessions.find((session) => session.sessionId === sessionId)?.tenantId ?? ""
    this.frames.push({
      sessionId,
      tenantId,
      eventId,
      deliveryId,
      deliveryCount: event?.deliveryCount ?? 1,
      createdAt: event?.createdAt ?? 0,
      mark: eventId,
      at: this.#step(),
      ...different
    })
    return this
  }

  /** Leases events to a session and lets them arrive. Returns the last delivery id. */
  deliver(sessionId: string, ...eventIds: ReadonlyArray<string>): string {
    const deliveryIds = this.lease(sessionId, ...eventIds)
    eventIds.forEach((eventId, index) => this.arrive(sessionId, eventId, deliveryIds[index]!))
    return deliveryIds.at(-1)!
  }

  release(eventId: string): this {
    return this.change(eventId, { sessionId: null, deliveryId: null, leasedUntil: null })
  }

  renew(eventId: string): this {
    return this.change(eventId, { leasedUntil: this.#now + LEASE_MILLIS })
  }

  /** Sends an acknowledgement that is not answered yet. */
  send(tenantId: string, eventId: string, deliveryId?: string, sessionId?: string): Acknowledgement {
    const acknowledgement: Acknowledgement = {
      tenantId,
      eventId,
      deliveryId,
      sessionId,
      sentAt: this.#step(),
      answer: undefined,
      answeredAt: undefined
    }
    this.acknowledgements.push(acknowledgement)
    return acknowledgement
  }

  answer(acknowledgement: Acknowledgement, answer: NonNullable<Acknowledgement["answer"]>): this {
    acknowledgement.answer = answer
    acknowledgement.answeredAt = this.#step()
    return this
  }

  /** Marks the event acknowledged. */
  end(eventId: string): this {
    return this.change(eventId, { status: "acknowledged", sessionId: null, leasedUntil: null })
  }

  /** Sends an acknowledgement that counts and is answered. */
  acknowledge(tenantId: string, eventId: string, deliveryId?: string): this {
    const acknowledgement = this.send(tenantId, eventId, deliveryId)
    return this.end(eventId).answer(acknowledgement, "acknowledged")
  }

  /** Acknowledges every event that is not acknowledged. */
  finish(): this {
    for (const [eventId, { state, tenantId }] of this.#events) {
      if (state.status !== "acknowledged") this.acknowledge(tenantId, eventId)
    }
    return this
  }

  get history(): EventHistory {
    const rows = [...this.#events].map(([eventId, { deliveryCount, state, tenantId }]) => ({
      tenantId,
      eventId,
      status: state.status,
      deliveryCount,
      leasedUntil: state.leasedUntil
    }))
    const { acknowledgements, appends, changes, frames, sessions, rolledBack } = this
    return { appends, sessions, frames, acknowledgements, changes, rows, rolledBack }
  }

  #event(eventId: string): Stored {
    const event = this.#events.get(eventId)
    if (event === undefined) throw new Error(`no event ${eventId}`)
    return event
  }
}
