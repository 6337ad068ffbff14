import type {
  Acknowledgement,
  Append,
  Frame,
  History,
  LeaseChange,
  LeaseState,
  SeenSession,
  Undone
} from "./History.ts"

/** How long leases of a story are, and how far its moments are apart unless it says so. */
export const LEASE_MILLIS = 6_000
const STEP_MILLIS = 10

const PENDING: LeaseState = { status: "pending", sessionId: null, deliveryId: null, leasedUntil: null }

interface Stored {
  readonly tenantId: string
  readonly createdAt: number
  state: LeaseState
  deliveryCount: number
}

/** A history that somebody tells, step by step, with nothing wrong in it but what is said. */
export class Story {
  readonly appends: Array<Append> = []
  readonly sessions: Array<SeenSession> = []
  readonly frames: Array<Frame> = []
  readonly acknowledgements: Array<Acknowledgement> = []
  readonly changes: Array<LeaseChange> = []
  readonly undone: Array<Undone> = []
  readonly #events = new Map<string, Stored>()
  #now = 1_000
  #deliveries = 0

  get now(): number {
    return this.#now
  }

  /** Lets time pass. */
  pass(millis: number): this {
    this.#now += millis
    return this
  }

  #step(): number {
    return this.pass(STEP_MILLIS).#now
  }

  /** Events of one tenant, stored in one call. */
  store(tenantId: string, ...eventIds: ReadonlyArray<string>): this {
    const [askedAt, createdAt, storedAt] = [this.#step(), this.#step(), this.#step()]
    for (const eventId of eventIds) this.#events.set(eventId, { tenantId, createdAt, state: PENDING, deliveryCount: 0 })
    const events = eventIds.map((eventId) => ({ tenantId, eventId, createdAt, mark: eventId }))
    this.appends.push({ askedAt, storedAt, events })
    return this
  }

  open(tenantId: string, ...sessionIds: ReadonlyArray<string>): this {
    for (const sessionId of sessionIds) this.sessions.push({ sessionId, tenantId, server: "", closedAt: undefined })
    return this
  }

  /** The client cuts it, or sees it closed. */
  close(sessionId: string): this {
    const session = this.sessions.find((each) => each.sessionId === sessionId)
    if (session !== undefined) session.closedAt = this.#step()
    return this
  }

  /** The database changes, as a statement that judges at this moment has it. */
  change(eventId: string, after: Partial<LeaseState>, transaction = this.changes.length): this {
    const event = this.#event(eventId)
    const askedAt = this.#step()
    const before = event.state
    event.state = { ...before, ...after }
    this.changes.push({ eventId, transaction, askedAt, at: this.#now, before, after: event.state })
    return this
  }

  /** The database gives events to a session, in one statement. Answers the deliveries. */
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

  /** A delivery comes to the client. */
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

  /** Events are leased to a session, and come to it. Answers the last delivery. */
  deliver(sessionId: string, ...eventIds: ReadonlyArray<string>): string {
    const deliveryIds = this.lease(sessionId, ...eventIds)
    eventIds.forEach((eventId, index) => this.arrive(sessionId, eventId, deliveryIds[index]!))
    return deliveryIds.at(-1)!
  }

  /** The database takes a lease back. */
  release(eventId: string): this {
    return this.change(eventId, { sessionId: null, deliveryId: null, leasedUntil: null })
  }

  renew(eventId: string): this {
    return this.change(eventId, { leasedUntil: this.#now + LEASE_MILLIS })
  }

  /** A client sends an acknowledgement; nothing comes of it so far. */
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

  /** The database takes note of an acknowledgement. */
  end(eventId: string): this {
    return this.change(eventId, { status: "acknowledged", sessionId: null, leasedUntil: null })
  }

  /** A client acknowledges, and it counts. */
  acknowledge(tenantId: string, eventId: string, deliveryId?: string): this {
    const acknowledgement = this.send(tenantId, eventId, deliveryId)
    return this.end(eventId).answer(acknowledgement, "acknowledged")
  }

  get history(): History {
    const rows = [...this.#events].map(([eventId, { deliveryCount, state, tenantId }]) => ({
      tenantId,
      eventId,
      status: state.status,
      deliveryCount,
      leasedUntil: state.leasedUntil
    }))
    const { acknowledgements, appends, changes, frames, sessions, undone } = this
    return { appends, sessions, frames, acknowledgements, changes, rows, undone }
  }

  #event(eventId: string): Stored {
    const event = this.#events.get(eventId)
    if (event === undefined) throw new Error(`the story has no event ${eventId}`)
    return event
  }
}
