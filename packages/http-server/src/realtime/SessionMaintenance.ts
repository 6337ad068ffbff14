import { AgentSessions, Credentials, EventPolicy, EventStore } from "@agentos/core"
import { Effect, Schedule } from "effect"
import type { Connections } from "./Connections.ts"
import type { DeliveringSession } from "./DeliveringSession.ts"
import { CLOSE_CODES } from "@agentos/api"
import { recordSessions } from "./RealtimeMetrics.ts"
import type { Session, Sessions } from "./Session.ts"

/** Each connection is pinged once in 20 turns. */
const TURN_EVERY = "1 second"
/** An unauthenticated connection is closed after 20 of these intervals, and before the 21st. */
const EXPIRE_EVERY = "250 millis"
/**
 * Number of maintenance rounds within the duration of a lease. A round renews leases, notices acknowledgements made by
 * REST, and finds events whose lease expired elsewhere or whose signal was lost.
 */
const ROUNDS_PER_LEASE = 3
/** Sessions of revoked tokens and suspended tenants are closed on every server within 5 seconds. */
const CHECK_TOKENS_EVERY = "3 seconds"
/** Tenants per query, and sessions per renewal. Each session holds 64 leases at most. */
const TENANT_BATCH = 1_000
const RENEWAL_BATCH = 200

/** Periodic maintenance of all sessions of a server, batched: no session has its own timer. */
export interface SessionMaintenance {
  /** Wakes the sessions for which the store has events. */
  readonly wakePending: Effect.Effect<void>
}

/** Runs until the scope closes. */
export const make = Effect.fnUntraced(function* (connections: Connections, sessions: Sessions) {
  const store = yield* EventStore
  const credentials = yield* Credentials
  const policy = yield* EventPolicy
  const agents = yield* AgentSessions

  const closeRevoked = Effect.gen(function* () {
    for (const some of chunksOf([...sessions], TENANT_BATCH)) {
      for (const { connection } of yield* credentials.findRevoked(some.map(({ owner }) => owner))) {
        connection.sendError("AUTH_REQUIRED", "The token of this session has been revoked.")
        connection.close(CLOSE_CODES.unauthenticated.code, "revoked")
      }
    }
  })

  const renew = Effect.gen(function* () {
    const holders = [...sessions].filter(isDelivering).filter(({ inFlight }) => inFlight.size > 0)
    for (const some of chunksOf(holders, RENEWAL_BATCH)) {
      const asked = some.map((session) => ({ session, inFlight: session.inFlight }))
      const held = Map.groupBy(
        yield* store.renew(some.map(({ owner }) => owner.sessionId)),
        ({ sessionId }) => sessionId
      )
      for (const { inFlight, session } of asked) {
        session.keep(inFlight, new Set(held.get(session.owner.sessionId)?.map(({ eventId }) => eventId)))
      }
    }
  })

  const wakePending = Effect.gen(function* () {
    const withRoom = [...sessions].filter(isDelivering).filter(({ room }) => room > 0)
    for (const some of chunksOf(tenantsOf(withRoom), TENANT_BATCH)) {
      for (const tenantId of (yield* store.countReplayableEach(some, 1)).keys()) {
        for (const session of sessions.of(tenantId).filter(isDelivering)) session.wake()
      }
    }
    // Observers also receive events that are not deliverable.
    const observing = [...sessions].filter((session) => session.mode === "observe")
    for (const some of chunksOf(tenantsOf(observing), TENANT_BATCH)) {
      const latest = yield* store.latestEach(some)
      for (const session of observing) {
        const position = latest.get(session.owner.tenantId)
        if (position !== undefined && session.isBehind(position)) session.wake()
      }
    }
  })

  /** A failed step is retried in the next round. Leases outlast two failed rounds. */
  const attempted = (step: string, effect: Effect.Effect<void>) =>
    Effect.catchCause(effect, (cause) => Effect.logError(`${step} failed; retrying`, cause))
  const round = Effect.gen(function* () {
    yield* attempted("renewing leases", renew)
    yield* attempted("renewing voice sessions", agents.keep)
    yield* attempted("polling for events", wakePending)
  })

  yield* Effect.forkScoped(
    Effect.repeat(attempted("checking for revoked tokens", closeRevoked), Schedule.spaced(CHECK_TOKENS_EVERY))
  )
  yield* Effect.forkScoped(Effect.repeat(round, Schedule.spaced(policy.leaseDuration / ROUNDS_PER_LEASE)))
  yield* Effect.forkScoped(
    Effect.repeat(
      Effect.andThen(
        Effect.sync(() => connections.heartbeat()),
        recordSessions(connections, sessions)
      ),
      Schedule.spaced(TURN_EVERY)
    )
  )
  yield* Effect.forkScoped(
    Effect.repeat(
      Effect.sync(() => connections.expire()),
      Schedule.spaced(EXPIRE_EVERY)
    )
  )
  return { wakePending: attempted("polling for events", wakePending) } satisfies SessionMaintenance
})

const tenantsOf = (some: ReadonlyArray<Session>): ReadonlyArray<string> => [
  ...new Set(some.map(({ owner }) => owner.tenantId))
]

const isDelivering = (session: Session): session is DeliveringSession => session.mode === "deliver"

const chunksOf = function* <A>(items: ReadonlyArray<A>, size: number): Generator<ReadonlyArray<A>> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
