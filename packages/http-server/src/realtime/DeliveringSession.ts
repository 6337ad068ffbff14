import { type Acknowledgement, EventStore, RealtimeSession, type Tenant, toEventRecord } from "@agentos/core"
import { Effect, Semaphore } from "effect"
import * as Batcher from "./Batcher.ts"
import type { RealtimeConnection } from "./RealtimeConnection.ts"
import type { Session } from "./Session.ts"

/** Acknowledgements that may wait before the socket is read no further. */
const WAITING_LIMIT = 256

/**
 * A session that takes events to work on: each is leased to it, and is its own
 * until it acknowledges, goes away or stops answering.
 */
export const make = Effect.fnUntraced(function* (
  connection: RealtimeConnection,
  tenant: Tenant,
  sessionId: string,
  fork: (effect: Effect.Effect<void>) => void
): Effect.fn.Return<Session, never, EventStore> {
  const store = yield* EventStore
  const pumping = yield* Semaphore.make(1)
  let session = RealtimeSession.opened

  const announce = (next: { readonly session: typeof session; readonly replayComplete: number | undefined }) => {
    session = next.session
    if (next.replayComplete !== undefined) {
      connection.send({ type: "session.replay.complete", delivered: next.replayComplete })
    }
  }

  /** Leases what there is room for and sends it, until either runs out. */
  const pump = pumping.withPermits(1)(
    Effect.gen(function* () {
      while (connection.isOpen) {
        const asked = RealtimeSession.room(session)
        if (asked === 0) break
        const deliveries = yield* store.lease(tenant.tenantId, sessionId, asked)
        for (const { deliveryId, event } of deliveries) {
          connection.send({ type: "event.delivery", deliveryId, event: toEventRecord(event) })
        }
        announce(RealtimeSession.leased(session, deliveries, asked))
        if (deliveries.length < asked) return
      }
      if (session.phase === "replaying" && (yield* store.countReplayable(tenant.tenantId, 1)) === 0) {
        announce(RealtimeSession.drained(session))
      }
    })
  )

  const acknowledge = Effect.fnUntraced(function* (acknowledgements: ReadonlyArray<Acknowledgement>) {
    const outcomes = yield* store.acknowledge(tenant.tenantId, acknowledgements)
    const wasFull = RealtimeSession.room(session) === 0
    session = RealtimeSession.acknowledged(session, acknowledgements, outcomes)
    acknowledgements.forEach(({ eventId }, index) => {
      switch (outcomes[index]) {
        case "acknowledged":
          return connection.send({ type: "event.acknowledged", eventId })
        case "stale":
          return connection.send({ type: "event.ack_stale", eventId })
        default:
          return connection.sendError("RESOURCE_NOT_FOUND", `No event ${eventId} of yours.`)
      }
    })
    connection.resume()
    if (wasFull) yield* pump
  })
  const acknowledgements = Batcher.make(acknowledge, fork)

  return {
    tenantId: tenant.tenantId,
    tokenVersion: tenant.tokenVersion,
    sessionId,
    connection,
    wake: pump,
    acknowledge: (acknowledgement) => {
      acknowledgements.offer(acknowledgement)
      if (acknowledgements.size() >= WAITING_LIMIT) connection.pause()
    },
    holdsLeases: () => session.inFlight.size > 0,
    keepLeases: (eventIds) => {
      const wasFull = RealtimeSession.room(session) === 0
      session = RealtimeSession.renewed(session, eventIds)
      if (wasFull) fork(pump)
    }
  }
})
