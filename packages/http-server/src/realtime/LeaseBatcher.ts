import { type Acknowledgement, Batcher, EventStore } from "@agentos/core"
import { Cause, Effect, Schedule } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import type { DeliveringSession, StoreRequests } from "./DeliveringSession.ts"
import { CLOSE_CODES } from "@agentos/api"
import { countAcknowledgements, countDeliveries } from "./RealtimeMetrics.ts"

/** Sessions per lease statement, acknowledgements per statement, and sessions per release statement. */
const LEASE_BATCH = 200
const ACKNOWLEDGEMENT_BATCH = 500
const RELEASE_BATCH = 500

/**
 * Under load, requests are collected for some milliseconds. A statement with its commit costs as much as leasing 20
 * events. The timer is Node's, because no result depends on this time.
 */
const PAUSE: Batcher.Pause = { size: 16, rest: Effect.promise(() => sleep(5)) }

/** Idempotent statements are retried for about a second, because a database that fails over returns soon. */
const retrySchedule = Schedule.min([Schedule.exponential("100 millis"), Schedule.recurs(4)])

/** Batches the store requests of all delivering sessions of the server, so that none needs its own statement. */
export interface LeaseBatcher extends StoreRequests {
  /** Releases the leases of a session whose socket is closed. */
  readonly release: (session: DeliveringSession) => void
  /** Stops leasing, and waits until the requests in progress have finished. */
  readonly close: Effect.Effect<void>
}

interface PendingAcknowledgement {
  readonly session: DeliveringSession
  readonly acknowledgement: Acknowledgement
}

/**
 * A session is closed if the outcome of its request is unknown. Its leases are then released, and after it reconnects
 * it receives the current state.
 */
export const make = Effect.fnUntraced(function* (
  fork: (effect: Effect.Effect<void>) => void
): Effect.fn.Return<LeaseBatcher, never, EventStore> {
  const store = yield* EventStore
  let isClosed = false

  const fail = (message: string) => (sessions: ReadonlyArray<DeliveringSession>, cause: Cause.Cause<never>) =>
    Effect.andThen(
      Effect.logError(message, cause),
      Effect.sync(() => {
        for (const { owner } of sessions) owner.connection.close(CLOSE_CODES.failed.code, "internal error")
      })
    )

  const lease = Effect.fnUntraced(function* (sessions: ReadonlyArray<DeliveringSession>) {
    const requests = sessions.map(({ owner: { sessionId, tenantId }, room }) => ({
      tenantId,
      sessionId,
      limit: isClosed ? 0 : room
    }))
    const answers = yield* store.leaseEach(requests)
    sessions.forEach((session, index) => {
      const deliveries = answers[index] ?? []
      session.deliver(deliveries, requests[index]!.limit)
      // The session disconnected while its request was in progress. The release at that time did not include these
      // leases.
      if (deliveries.length > 0 && !session.owner.connection.isOpen) releases.offer(session)
    })
    yield* countDeliveries(answers.flat())
    const full = sessions.filter(({ isReplayingFull }) => isReplayingFull)
    if (full.length > 0) {
      const left = yield* store.countReplayableEach([...new Set(full.map(({ owner }) => owner.tenantId))], 1)
      for (const session of full) if (!left.has(session.owner.tenantId)) session.drained()
    }
    for (const session of sessions) session.dismiss()
  })

  const acknowledge = Effect.fnUntraced(function* (given: ReadonlyArray<PendingAcknowledgement>) {
    const outcomes = yield* retried(
      Effect.suspend(() =>
        store.acknowledgeEach(
          given.map(({ acknowledgement, session }) => ({ ...acknowledgement, tenantId: session.owner.tenantId }))
        )
      )
    )
    yield* countAcknowledgements(outcomes)
    const answered = given.map((each, index) => ({ ...each, outcome: outcomes[index]! }))
    for (const [session, own] of Map.groupBy(answered, (each) => each.session)) {
      session.answer(
        own.map(({ acknowledgement }) => acknowledgement),
        own.map(({ outcome }) => outcome)
      )
    }
  })

  const leases = Batcher.make(
    { limit: LEASE_BATCH, pause: PAUSE, work: lease, failed: fail("leasing events failed") },
    fork
  )
  const acknowledgements = Batcher.make<PendingAcknowledgement, never>(
    {
      limit: ACKNOWLEDGEMENT_BATCH,
      pause: PAUSE,
      work: acknowledge,
      failed: (given, cause) =>
        fail("acknowledging events failed")(
          given.map(({ session }) => session),
          cause
        )
    },
    fork
  )
  const releases = Batcher.make<DeliveringSession, never>(
    {
      limit: RELEASE_BATCH,
      // Sessions that end while the server stops have not failed: their deliveries do not count.
      work: (sessions) =>
        retried(
          Effect.suspend(() =>
            store.release(
              sessions.map(({ owner }) => owner.sessionId),
              isClosed ? "withdrawn" : "unacknowledged"
            )
          )
        ),
      failed: (_, cause) => Effect.logError("releasing leases failed; they will expire", cause)
    },
    fork
  )
  return {
    lease: (session) => {
      if (!isClosed) leases.offer(session)
    },
    acknowledge: (session, acknowledgement) => acknowledgements.offer({ session, acknowledgement }),
    release: releases.offer,
    close: Effect.suspend(() => {
      isClosed = true
      return Effect.all([leases.idle, acknowledgements.idle, releases.idle], {
        concurrency: "unbounded",
        discard: true
      })
    })
  }
})

const retried = <A>(effect: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.catch(Effect.retry(Effect.sandbox(effect), retrySchedule), Effect.failCause)
