/**
 * What is known of a run when it is over. Every moment is in whole milliseconds of this machine's clock, rounded down,
 * by which the clients, the producer and the database go alike.
 */
export interface History {
  readonly appends: ReadonlyArray<Append>
  readonly sessions: ReadonlyArray<SeenSession>
  readonly frames: ReadonlyArray<Frame>
  readonly acknowledgements: ReadonlyArray<Acknowledgement>
  readonly changes: ReadonlyArray<LeaseChange>
  readonly rows: ReadonlyArray<EventRow>
  readonly undone: ReadonlyArray<Undone>
}

/** One call that stored events, by the producer's record. */
export interface Append {
  readonly askedAt: number
  readonly storedAt: number
  /** In the order given. */
  readonly events: ReadonlyArray<ProducedEvent>
}

export interface ProducedEvent {
  readonly tenantId: string
  readonly eventId: string
  readonly createdAt: number
  /** What the producer put into it. */
  readonly mark: string
}

/** A session, as its client saw it. */
export interface SeenSession {
  readonly sessionId: string
  readonly tenantId: string
  /** The address of its server. */
  readonly server: string
  /** When the client cut it, or saw that it was closed; undefined when it was open at the end. */
  closedAt: number | undefined
}

/** A delivery that came to a client. The clients' frames are in the order in which they came. */
export interface Frame {
  readonly sessionId: string
  /** Of the client. */
  readonly tenantId: string
  readonly eventId: string
  readonly deliveryId: string
  readonly deliveryCount: number
  readonly createdAt: number
  readonly mark: string
  readonly at: number
}

/** An acknowledgement that a client sent. */
export interface Acknowledgement {
  /** Of the client, whose event it need not be. */
  readonly tenantId: string
  readonly eventId: string
  /** The delivery that it names. */
  readonly deliveryId: string | undefined
  /** Over which socket; undefined by REST. */
  readonly sessionId: string | undefined
  readonly sentAt: number
  /** Undefined as long as nothing was answered. */
  answer: "acknowledged" | "stale" | "missing" | undefined
  answeredAt: number | undefined
}

/** What the delivery of an event was. */
export interface LeaseState {
  readonly status: string
  readonly sessionId: string | null
  readonly deliveryId: string | null
  readonly leasedUntil: number | null
}

/**
 * What the database itself noted when the delivery of an event changed: all changes but the renewal of a live lease.
 * Those of one event are in their order.
 */
export interface LeaseChange {
  readonly eventId: string
  readonly transaction: number
  /** Not later than the moment by which the statement judged. */
  readonly askedAt: number
  /** Not earlier than that moment, and before anybody else could see the change. */
  readonly at: number
  readonly before: LeaseState
  readonly after: LeaseState
}

/** An event of a tenant, as the database has it at the end. */
export interface EventRow {
  readonly tenantId: string
  readonly eventId: string
  readonly status: string
  readonly deliveryCount: number
  readonly leasedUntil: number | null
}

/** A transaction that was undone, which had begun to write at some moment between these. */
export interface Undone {
  readonly from: number
  readonly to: number
}
