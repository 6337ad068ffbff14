import type { Acknowledgement, EventRow, Frame, History, LeaseChange, ProducedEvent } from "./History.ts"

/** A time for which the database gave an event to a session. */
export interface Lease {
  readonly eventId: string
  readonly sessionId: string
  readonly deliveryId: string
  /** From 1 on: which lease of the event it is. */
  readonly rank: number
  readonly transaction: number
  readonly askedAt: number
  readonly takenAt: number
  /** Until when it was given at first. */
  readonly firstUntil: number
  /** When it ran out, by its last renewal. */
  readonly until: number
  /** What ended it, if it was not left to run out, or what came when it had. */
  readonly end: "released" | "acknowledged" | "taken" | undefined
  readonly endedAt: number
}

/** All that is known of one event that was produced. */
export interface Case {
  readonly event: ProducedEvent
  /** Those that came to clients of its tenant. */
  readonly frames: ReadonlyArray<Frame>
  /** Those of its tenant. */
  readonly acknowledgements: ReadonlyArray<Acknowledgement>
  readonly changes: ReadonlyArray<LeaseChange>
  readonly leases: ReadonlyArray<Lease>
  /** The change by which it was acknowledged. */
  readonly acknowledged: LeaseChange | undefined
  readonly row: EventRow | undefined
}

/** A history, put in order. */
export interface Cases {
  readonly history: History
  readonly all: ReadonlyArray<Case>
  readonly of: (eventId: string) => Case | undefined
  readonly lease: (deliveryId: string) => Lease | undefined
}

/** A promise that can be broken: gives a sentence for each time that it was. */
export type Rule = (cases: Cases) => Iterable<string>

export const makeCases = (history: History): Cases => {
  const frames = Map.groupBy(history.frames, ({ eventId }) => eventId)
  const acknowledgements = Map.groupBy(history.acknowledgements, ({ eventId }) => eventId)
  const changes = Map.groupBy(history.changes, ({ eventId }) => eventId)
  const rows = new Map(history.rows.map((row) => [row.eventId, row]))
  const cases = new Map<string, Case>()
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
      acknowledged: changed.find(({ after, before }) => isOver(after) && !isOver(before)),
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

export const isOver = ({ status }: { readonly status: string }): boolean => status === "acknowledged"

const leasesOf = (changes: ReadonlyArray<LeaseChange>, row: EventRow | undefined): ReadonlyArray<Lease> => {
  const leases: Array<Lease> = []
  let open: Lease | undefined
  const close = (end: Lease["end"], endedAt: number, until: number | null) => {
    if (open !== undefined) leases.push({ ...open, end, endedAt, until: until ?? open.until })
    open = undefined
  }
  for (const { after, askedAt, at, before, eventId, transaction } of changes) {
    if (open !== undefined) {
      if (isOver(after) && !isOver(before)) close("acknowledged", at, before.leasedUntil)
      else if (after.deliveryId === null) close("released", at, before.leasedUntil)
      else if (after.deliveryId !== before.deliveryId) close("taken", at, before.leasedUntil)
    }
    if (after.deliveryId !== null && after.deliveryId !== before.deliveryId) {
      open = {
        eventId,
        sessionId: after.sessionId ?? "",
        deliveryId: after.deliveryId,
        rank: leases.length + 1,
        transaction,
        askedAt,
        takenAt: at,
        firstUntil: after.leasedUntil ?? at,
        until: after.leasedUntil ?? at,
        end: undefined,
        endedAt: Number.POSITIVE_INFINITY
      }
    }
  }
  close(undefined, Number.POSITIVE_INFINITY, row?.leasedUntil ?? null)
  return leases
}
