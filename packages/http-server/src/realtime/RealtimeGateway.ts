import { REALTIME_PATH, RealtimeClientMessage } from "@agentos/api"
import { Credentials, EventPolicy, EventSignal, EventStore, RealtimeSession, type Tenant, Uuid } from "@agentos/core"
import { Deferred, Effect, FiberSet, Layer, Option, Queue, Redacted, Schedule, Schema, type Scope } from "effect"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { type RawData, type WebSocket, WebSocketServer } from "ws"
import { NodeServer } from "../NodeServer.ts"
import * as Batcher from "./Batcher.ts"
import * as DeliveringSession from "./DeliveringSession.ts"
import * as ObservingSession from "./ObservingSession.ts"
import { CLOSE, RealtimeConnection } from "./RealtimeConnection.ts"
import type { Session } from "./Session.ts"

/** Longest message from a client, in bytes: a token and its frame. */
const MESSAGE_LIMIT_BYTES = 8 * 1024
const AUTHENTICATE_WITHIN = "5 seconds"
const HEARTBEAT_EVERY = "20 seconds"
/** A session looks for itself this often: a wake-up can get lost, and a lease lapses without one. */
const LOOK_EVERY = "15 seconds"
/** Leases are renewed this often within their duration; what was acknowledged by REST shows then too. */
const RENEWALS_PER_LEASE = 3
/** Sockets of one tenant on one server. */
const TENANT_LIMIT = 100
/** `pending` in session.ready is counted up to this. */
const PENDING_LIMIT = 10_000
/** How long clients are given to answer the close frame when the server stops. */
const GOODBYE = "1 second"
/** Sockets on one server, authenticated or not. */
const SOCKET_LIMIT = 20_000

const decodeMessage = Schema.decodeUnknownOption(Schema.fromJsonString(RealtimeClientMessage), {
  onExcessProperty: "error"
})

type Authenticate = Extract<RealtimeClientMessage, { readonly type: "session.authenticate" }>

/**
 * The WebSocket gateway: authenticates sockets, hands each to a session, keeps
 * their leases while they answer, and gives everything back when it stops.
 *
 * It takes the upgrades of the server for itself, since sessions need what lies
 * below messages: pings, unsent bytes, reading stopped.
 */
const make = Effect.gen(function* () {
  const server = yield* NodeServer
  const store = yield* EventStore
  const signal = yield* EventSignal
  const credentials = yield* Credentials
  const policy = yield* EventPolicy
  const fork = yield* FiberSet.makeRuntime<never, void, never>()

  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_LIMIT_BYTES, clientTracking: true })
  const connections = new Set<RealtimeConnection>()
  const allClosed = Deferred.makeUnsafe<void>()
  let stopping = false
  const sessions = new Map<string, Session>()
  const ended = Batcher.make<string>((sessionIds) => store.release(sessionIds), fork)

  const countOf = (tenantId: string): number => {
    let count = 0
    for (const session of sessions.values()) if (session.tenantId === tenantId) count++
    return count
  }

  const openSession = Effect.fnUntraced(
    function* (connection: RealtimeConnection, tenant: Tenant, mode: string) {
      const wakeUps = yield* signal.subscribe(tenant.tenantId)
      const sessionId = yield* Uuid.next
      const session =
        mode === "observe"
          ? yield* ObservingSession.make(connection, tenant, sessionId)
          : yield* DeliveringSession.make(connection, tenant, sessionId, fork)
      yield* Effect.acquireRelease(
        Effect.sync(() => sessions.set(sessionId, session)),
        () =>
          Effect.sync(() => {
            sessions.delete(sessionId)
            ended.offer(sessionId)
          })
      )
      connection.send({
        type: "session.ready",
        sessionId,
        leaseSeconds: policy.leaseDuration / 1000,
        maxInFlight: RealtimeSession.MAX_IN_FLIGHT,
        pending: yield* store.countReplayable(tenant.tenantId, PENDING_LIMIT)
      })
      return { session, wakeUps }
    },
    Effect.provideService(EventStore, store)
  )

  /** Authenticates a socket within its time; says why not and closes it otherwise. */
  const authenticate = Effect.fnUntraced(function* (
    connection: RealtimeConnection,
    first: Deferred.Deferred<Authenticate>
  ) {
    const message = yield* Effect.timeoutOption(Deferred.await(first), AUTHENTICATE_WITHIN)
    if (Option.isNone(message)) return connection.close(CLOSE.unauthenticated, "authenticate within 5 seconds")
    const tenant = yield* credentials.authenticateRealtime(Redacted.make(message.value.token)).pipe(
      Effect.catch((error) =>
        Effect.sync(() => {
          connection.sendError(error._tag === "WrongCredential" ? "INVALID_TOKEN" : "AUTH_REQUIRED", error.message)
          return connection.close(CLOSE.unauthenticated, "not authenticated")
        })
      )
    )
    if (tenant === undefined) return undefined
    if (countOf(tenant.tenantId) >= TENANT_LIMIT) {
      connection.sendError("RATE_LIMITED", `At most ${TENANT_LIMIT} sockets at a time.`)
      return connection.close(CLOSE.tooMany, "too many sockets")
    }
    return { tenant, mode: message.value.mode ?? "deliver" }
  })

  const serve = Effect.fnUntraced(function* (
    connection: RealtimeConnection,
    inbox: Inbox
  ): Effect.fn.Return<void, never, Scope.Scope> {
    const who = yield* authenticate(connection, inbox.first)
    if (who === undefined) return
    const { session, wakeUps } = yield* openSession(connection, who.tenant, who.mode)
    inbox.session = session
    while (connection.isOpen) {
      yield* session.wake
      yield* Effect.timeoutOption(Queue.take(wakeUps), LOOK_EVERY)
    }
  }, Effect.scoped)

  const accept = (socket: WebSocket) => {
    const connection = new RealtimeConnection(socket)
    const inbox: Inbox = { first: Deferred.makeUnsafe(), session: undefined }
    const gone = Deferred.makeUnsafe<void>()
    connections.add(connection)
    socket.on("message", (data, isBinary) => receive(connection, inbox, data, isBinary))
    socket.once("close", () => {
      connections.delete(connection)
      if (stopping && connections.size === 0) Deferred.doneUnsafe(allClosed, Effect.void)
      Deferred.doneUnsafe(gone, Effect.void)
    })
    fork(
      serve(connection, inbox).pipe(
        Effect.raceFirst(Deferred.await(gone)),
        Effect.catchDefect((defect) =>
          Effect.andThen(
            Effect.logError("a realtime session failed", defect),
            Effect.sync(() => connection.close(CLOSE.failed, "internal error"))
          )
        )
      )
    )
  }

  const upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const path = request.url?.split("?", 1)[0]
    if (path !== REALTIME_PATH) return refuse(stream, "404 Not Found")
    if (connections.size >= SOCKET_LIMIT) return refuse(stream, "503 Service Unavailable")
    sockets.handleUpgrade(request, stream, head, accept)
  }

  const heartbeat = Effect.sync(() => {
    for (const connection of connections) connection.heartbeat()
  })

  /** Ends the sessions of revoked tenants, and keeps the leases of the others, in one query each. */
  const renew = Effect.gen(function* () {
    for (const { connection } of yield* credentials.findRevoked([...sessions.values()])) {
      connection.sendError("AUTH_REQUIRED", "The token of this session has been revoked.")
      connection.close(CLOSE.unauthenticated, "revoked")
    }
    const holders = [...sessions.values()].filter((session) => session.holdsLeases())
    if (holders.length === 0) return
    const held = Map.groupBy(
      yield* store.renew(holders.map(({ sessionId }) => sessionId)),
      ({ sessionId }) => sessionId
    )
    for (const session of holders) {
      session.keepLeases(new Set(held.get(session.sessionId)?.map(({ eventId }) => eventId)))
    }
  }).pipe(Effect.catchDefect((defect) => Effect.logError("leases were not renewed; trying again", defect)))

  const stop = Effect.gen(function* () {
    server.off("upgrade", upgrade)
    stopping = true
    yield* store.release([...sessions.keys()])
    for (const connection of connections) connection.close(CLOSE.restarting, "the server is restarting")
    if (connections.size > 0) yield* Effect.raceFirst(Deferred.await(allClosed), Effect.sleep(GOODBYE))
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
  })

  yield* Effect.acquireRelease(
    Effect.sync(() => {
      server.removeAllListeners("upgrade")
      server.on("upgrade", upgrade)
    }),
    () => stop
  )
  yield* Effect.forkScoped(Effect.repeat(heartbeat, Schedule.spaced(HEARTBEAT_EVERY)))
  yield* Effect.forkScoped(Effect.repeat(renew, Schedule.spaced(policy.leaseDuration / RENEWALS_PER_LEASE)))
})

const refuse = (stream: Duplex, status: string): void => {
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/** What has come from a socket before its session, and the session once there is one. */
interface Inbox {
  readonly first: Deferred.Deferred<Authenticate>
  session: Session | undefined
}

const receive = (connection: RealtimeConnection, inbox: Inbox, data: RawData, isBinary: boolean): void => {
  // Whole messages come as one Buffer: that is the `binaryType` of sockets unless set otherwise.
  const message = isBinary || !Buffer.isBuffer(data) ? Option.none() : decodeMessage(data.toString("utf8"))
  if (Option.isNone(message)) {
    connection.sendError("INVALID_REQUEST", "Not a message of this protocol.")
    return connection.close(CLOSE.badMessage, "bad message")
  }
  if (message.value.type === "event.ack") {
    if (inbox.session !== undefined) return inbox.session.acknowledge(message.value)
    return connection.close(CLOSE.unauthenticated, "authenticate first")
  }
  if (!Deferred.doneUnsafe(inbox.first, Effect.succeed(message.value))) {
    connection.close(CLOSE.badMessage, "already authenticated")
  }
}

/** Serves the realtime protocol on the server's port for as long as the layer lives. */
export const layer = Layer.effectDiscard(make)
