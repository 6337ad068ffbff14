import { CLOSE_CODES, type RealtimeClientMessage } from "@agentos/api"
import {
  AgentSessions,
  Batcher,
  Credentials,
  EventPolicy,
  EventStore,
  PENDING_COUNT_LIMIT,
  type RealtimeHolder,
  RealtimeSession,
  TURNS_IN_FLIGHT_MAX,
  Uuid
} from "@agentos/core"
import { Effect, Redacted, Result } from "effect"
import { AnsweringSession } from "./AnsweringSession.ts"
import { DeliveringSession } from "./DeliveringSession.ts"
import type { LeaseBatcher } from "./LeaseBatcher.ts"
import { ObservingSession } from "./ObservingSession.ts"
import type { RealtimeConnection } from "./RealtimeConnection.ts"
import type { Session, Sessions } from "./Session.ts"
import type { SessionOwner } from "./SessionOwner.ts"
import type { SocketLimits } from "../connection/SocketLimits.ts"

/**
 * Maximum number of sockets that are authenticated together: one statement checks them, another counts their pending
 * events.
 */
const OPENING_BATCH = 100
/** Maximum number of sockets of one tenant on one server. */
const SOCKETS_PER_TENANT = 100

export type Authenticate = Extract<RealtimeClientMessage, { readonly type: "session.authenticate" }>

/** A socket that has sent its credential. */
export interface OpeningRequest {
  readonly connection: RealtimeConnection
  readonly message: Authenticate
  /** Receives the session before any further message of the socket. */
  readonly opened: (session: Session) => void
}

/** A socket whose token is valid. */
interface Admitted extends OpeningRequest {
  readonly holder: RealtimeHolder
}

/** Authenticates sockets and opens their sessions. A refused socket receives the reason and is closed. */
export const make = Effect.fnUntraced(function* (
  sessions: Sessions,
  leases: LeaseBatcher,
  limits: SocketLimits,
  fork: (effect: Effect.Effect<void>) => void
): Effect.fn.Return<Batcher.Batcher<OpeningRequest>, never, AgentSessions | EventStore | Credentials> {
  const store = yield* EventStore
  const credentials = yield* Credentials
  const policy = yield* EventPolicy
  const agents = yield* AgentSessions

  const authenticate = Effect.fnUntraced(function* (requests: ReadonlyArray<OpeningRequest>) {
    const holders = yield* credentials.authenticateRealtime(requests.map(({ message }) => Redacted.make(message.token)))
    const admitted: Array<Admitted> = []
    for (const [index, request] of requests.entries()) {
      const holder = holders[index]!
      if (Result.isSuccess(holder)) {
        admitted.push({ ...request, holder: holder.success })
        continue
      }
      const { connection } = request
      const { _tag, message } = holder.failure
      connection.sendError(_tag === "WrongCredential" ? "INVALID_TOKEN" : "AUTH_REQUIRED", message)
      connection.close(CLOSE_CODES.unauthenticated.code, "not authenticated")
      yield* limits.chargeRefusedToken(connection.address)
    }
    return admitted
  })

  const makeSession = (owner: SessionOwner, { mode, phoneNumberIds }: Authenticate): Session => {
    switch (mode) {
      case "observe":
        return new ObservingSession(owner, store, fork)
      case "voice":
        return new AnsweringSession(owner, agents, phoneNumberIds ?? null)
      default:
        return new DeliveringSession(owner, leases)
    }
  }

  /** Makes a voice session available to calls, unless its socket has closed meanwhile. */
  const connect = ({ connected, owner }: AnsweringSession) =>
    Effect.andThen(
      agents.connect(connected),
      Effect.suspend(() => (owner.connection.isOpen ? Effect.void : agents.disconnect([owner.sessionId])))
    )

  const open = Effect.fnUntraced(function* (requests: ReadonlyArray<OpeningRequest>) {
    const admitted = yield* authenticate(requests)
    if (admitted.length === 0) return
    const tenantIds = new Set(admitted.map(({ holder }) => holder.tenantId))
    const pending = yield* store.countReplayableEach([...tenantIds], PENDING_COUNT_LIMIT)
    for (const { connection, holder, message, opened } of admitted) {
      const sessionId = yield* Uuid.next
      if (!connection.isOpen) continue
      if (sessions.of(holder.tenantId).length >= SOCKETS_PER_TENANT) {
        connection.sendError("RATE_LIMITED", `Too many sockets: the limit is ${SOCKETS_PER_TENANT} per tenant.`)
        connection.close(CLOSE_CODES.tooMany.code, "too many sockets")
        continue
      }
      const session = makeSession({ ...holder, sessionId, connection }, message)
      connection.send({
        type: "session.ready",
        sessionId,
        leaseSeconds: policy.leaseDuration / 1000,
        maxInFlight: session.mode === "voice" ? TURNS_IN_FLIGHT_MAX : RealtimeSession.MAX_IN_FLIGHT,
        pending: pending.get(holder.tenantId) ?? 0
      })
      opened(session)
      sessions.add(session)
      session.wake()
      if (session.mode === "voice") yield* connect(session)
    }
  })

  return Batcher.make(
    {
      limit: OPENING_BATCH,
      work: open,
      failed: (requests, cause) =>
        Effect.andThen(
          Effect.logError("opening realtime sessions failed", cause),
          Effect.sync(() => {
            for (const { connection } of requests) connection.close(CLOSE_CODES.failed.code, "internal error")
          })
        )
    },
    fork
  )
})
