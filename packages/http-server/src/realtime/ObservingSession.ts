import { type EventFilter, EventStore, type Position, type Tenant, toEventRecord } from "@agentos/core"
import { Effect, Semaphore } from "effect"
import type { RealtimeConnection } from "./RealtimeConnection.ts"
import type { Session } from "./Session.ts"

const PAGE = 100

/**
 * A session that only looks: it is shown what is unacknowledged, then each event
 * as it is stored. It takes no lease and nothing from a session that works.
 */
export const make = Effect.fnUntraced(function* (
  connection: RealtimeConnection,
  tenant: Tenant,
  sessionId: string
): Effect.fn.Return<Session, never, EventStore> {
  const store = yield* EventStore
  const pumping = yield* Semaphore.make(1)
  const newest = yield* store.latest(tenant.tenantId)
  let position: Position | undefined
  let replaying = true

  /** Shows every event after `after` that matches, up to and including `last`; gives where it ended. */
  const show = Effect.fnUntraced(function* (filter: EventFilter, after: Position | undefined, last?: Position) {
    let reached = after
    let shown = 0
    while (connection.isOpen) {
      const events = yield* store.list(tenant.tenantId, filter, reached, PAGE)
      for (const event of events) {
        const at = { createdAt: event.createdAt, id: event.eventId }
        if (last !== undefined && isLater(at, last)) return { reached, shown }
        connection.send({ type: "event.observed", event: toEventRecord(event) })
        reached = at
        shown++
      }
      if (events.length < PAGE) break
    }
    return { reached, shown }
  })

  const replay = Effect.gen(function* () {
    const { shown } =
      newest === undefined ? { shown: 0 } : yield* show({ statuses: ["pending", "delivered"] }, undefined, newest)
    connection.send({ type: "session.replay.complete", delivered: shown })
    position = newest
    replaying = false
  })

  const wake = pumping.withPermits(1)(
    Effect.gen(function* () {
      if (replaying) yield* replay
      const { reached } = yield* show({}, position)
      position = reached
    })
  )

  return {
    tenantId: tenant.tenantId,
    tokenVersion: tenant.tokenVersion,
    sessionId,
    connection,
    wake,
    acknowledge: () => connection.sendError("FORBIDDEN", "A session that observes may not acknowledge."),
    holdsLeases: () => false,
    keepLeases: () => {}
  }
})

const isLater = (a: Position, b: Position): boolean =>
  a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.id > b.id)
