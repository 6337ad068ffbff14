/**
 * What producer, clients and database recorded of events. Every time is in whole milliseconds of this machine's clock,
 * rounded down.
 */
export interface EventHistory {
  readonly appends: ReadonlyArray<Append>
  readonly sessions: ReadonlyArray<Session>
  /** In the order of arrival. */
  readonly frames: ReadonlyArray<Frame>
  readonly acknowledgements: ReadonlyArray<Acknowledgement>
  /** Those of one event are in order. */
  readonly changes: ReadonlyArray<LeaseChange>
  readonly rows: ReadonlyArray<EventRow>
  readonly rolledBack: ReadonlyArray<RolledBack>
}

/** A call that stored events, by the producer's record. */
export interface Append {
  readonly calledAt: number
  readonly returnedAt: number
  readonly events: ReadonlyArray<ProducedEvent>
}

export interface ProducedEvent {
  readonly tenantId: string
  readonly eventId: string
  readonly createdAt: number
  /** Content by which the producer recognizes the event. */
  readonly mark: string
}

/** A session, by its client's record. */
export interface Session {
  readonly sessionId: string
  readonly tenantId: string
  /** The address of its server. */
  readonly server: string
  /** When the client cut or lost the socket; undefined if it was open at the end. */
  closedAt: number | undefined
}

/** A delivery that arrived at a client. */
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

/** An acknowledgement that a client sent, possibly for another tenant's event. */
export interface Acknowledgement {
  /** Of the client. */
  readonly tenantId: string
  readonly eventId: string
  readonly deliveryId: string | undefined
  /** Undefined over REST. */
  readonly sessionId: string | undefined
  readonly sentAt: number
  /** Undefined until it is answered. */
  answer: "acknowledged" | "stale" | "missing" | undefined
  answeredAt: number | undefined
}

export interface LeaseState {
  readonly status: string
  readonly sessionId: string | null
  readonly deliveryId: string | null
  readonly leasedUntil: number | null
}

/** A change of an event's delivery, by the database's own record. Renewals of live leases are not recorded. */
export interface LeaseChange {
  readonly eventId: string
  readonly transaction: number
  /** Not later than the time by which the statement judged leases. */
  readonly startedAt: number
  /** Not earlier than that time, and before any other transaction could see the change. */
  readonly at: number
  readonly before: LeaseState
  readonly after: LeaseState
}

/** An event as the database stores it at the end. */
export interface EventRow {
  readonly tenantId: string
  readonly eventId: string
  readonly status: string
  readonly deliveryCount: number
  readonly leasedUntil: number | null
}

/** A transaction that was rolled back, and that began to write between these times. */
export interface RolledBack {
  readonly from: number
  readonly to: number
}

/** A period for which an event was leased to a session. */
export interface Lease {
  readonly eventId: string
  readonly sessionId: string
  readonly deliveryId: string
  /** Its place among the leases of the event, from 1. */
  readonly rank: number
  readonly transaction: number
  readonly startedAt: number
  readonly takenAt: number
  /** The expiry that it was given at first. */
  readonly firstUntil: number
  /** Its expiry after the last renewal. */
  readonly until: number
  /** Undefined if the lease expired and the event was not leased again. */
  readonly end: "released" | "acknowledged" | "taken" | undefined
  readonly endedAt: number
}

/** Everything recorded of one event. */
export interface EventCase {
  readonly event: ProducedEvent
  /** At clients of its tenant. */
  readonly frames: ReadonlyArray<Frame>
  /** By clients of its tenant. */
  readonly acknowledgements: ReadonlyArray<Acknowledgement>
  readonly changes: ReadonlyArray<LeaseChange>
  readonly leases: ReadonlyArray<Lease>
  /** The change that acknowledged it. */
  readonly acknowledged: LeaseChange | undefined
  readonly row: EventRow | undefined
}

/** A history indexed by event and by delivery. */
export interface EventCases {
  readonly history: EventHistory
  readonly all: ReadonlyArray<EventCase>
  readonly of: (eventId: string) => EventCase | undefined
  readonly lease: (deliveryId: string) => Lease | undefined
}

export const isAcknowledged = ({ status }: Pick<LeaseState, "status">): boolean => status === "acknowledged"

export const indexEvents = (history: EventHistory): EventCases => {
  const frames = Map.groupBy(history.frames, ({ eventId }) => eventId)
  const acknowledgements = Map.groupBy(history.acknowledgements, ({ eventId }) => eventId)
  const changes = Map.groupBy(history.changes, ({ eventId }) => eventId)
  const rows = new Map(history.rows.map((row) => [row.eventId, row]))
  const cases = new Map<string, EventCase>()
  const leases = new Map<string, Lease>()
  for (const event of history.appends.flatMap((append) => append.events)) {
    const { eventId, tenantId } = event
    const own = <A extends { readonly tenantId: string }>(all: ReadonlyArray<A> | undefined) =>
      (all ?? []).filter((each) => each.tenantId === tenantId)
    const row = rows.get(eventId)
    const changed = changes.get(eventId) ?? []
    const taken = leasesOf(changed, row)
    for (const lease of taken) leases.set(lease.deliveryId, lease)
    cases.set(eventId, {
      event,
      frames: own(frames.get(eventId)),
      acknowledgements: own(acknowledgements.get(eventId)),
      changes: changed,
      leases: taken,
      acknowledged: changed.find(({ after, before }) => isAcknowledged(after) && !isAcknowledged(before)),
      row
    })
  }
  return {
    history,
    all: [...cases.values()],
    of: (eventId) => cases.get(eventId),
    lease: (deliveryId) => leases.get(deliveryId)
  }
}

const leasesOf = (changes: ReadonlyArray<LeaseChange>, row: EventRow | undefined): ReadonlyArray<Lease> => {
  const leases: Array<Lease> = []
  let open: Lease | undefined
  const close = (end: Lease["end"], endedAt: number, until: number | null) => {
    if (open !== undefined) leases.push({ ...open, end, endedAt, until: until ?? open.until })
    open = undefined
  }
  for (const { after, at, before, eventId, startedAt, transaction } of changes) {
    const isTaken = after.deliveryId !== null && after.deliveryId !== before.deliveryId
    if (isAcknowledged(after) && !isAcknowledged(before)) close("acknowledged", at, before.leasedUntil)
    else if (after.deliveryId === null) close("released", at, before.leasedUntil)
    else if (isTaken) close("taken", at, before.leasedUntil)
    if (!isTaken) continue
    open = {
      eventId,
      sessionId: after.sessionId ?? "",
      deliveryId: after.deliveryId,
      rank: leases.length + 1,
      transaction,
      startedAt,
      takenAt: at,
      firstUntil: after.leasedUntil ?? at,
      until: after.leasedUntil ?? at,
      end: undefined,
      endedAt: Number.POSITIVE_INFINITY
    }
  }
  close(undefined, Number.POSITIVE_INFINITY, row?.leasedUntil ?? null)
  return leases
}
