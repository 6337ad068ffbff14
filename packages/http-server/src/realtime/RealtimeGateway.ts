import { CLOSE_CODES, REALTIME_MESSAGE_LIMIT_BYTES, REALTIME_PATH, RealtimeClientMessage } from "@agentos/api"
import { AgentSessions, EventSignal, EventStore, settingIssues } from "@agentos/core"
import { Context, Deferred, Effect, FiberSet, Layer, Result, Schedule, Schema } from "effect"
import type { Duplex } from "node:stream"
import { type RawData, type WebSocket, WebSocketServer } from "ws"
import { answerBrokenHandshake } from "../connection/BrokenRequests.ts"
import { READS_PER_FRAME_MAX } from "../connection/FrameGate.ts"
import * as SocketLimits from "../connection/SocketLimits.ts"
import { refuseUpgrade, type Upgrade, Upgrades } from "../connection/Upgrades.ts"
import { Connections } from "./Connections.ts"
import { FrameMeter, FrameShares } from "./FrameMeter.ts"
import * as LeaseBatcher from "./LeaseBatcher.ts"
import { RealtimeConnection } from "./RealtimeConnection.ts"
import { type Session, Sessions } from "./Session.ts"
import * as SessionMaintenance from "./SessionMaintenance.ts"
import * as SessionOpening from "./SessionOpening.ts"

/** The maximum number of concurrent realtime sockets of one server. */
export interface SocketCapacity {
  readonly sockets: number
  /** Maximum number of unauthenticated sockets of all clients. */
  readonly unauthenticated: number
  /** Maximum number of unauthenticated sockets of one client. */
  readonly unauthenticatedPerClient: number
}

export const SocketCapacity = Context.Reference<SocketCapacity>("@agentos/http-server/realtime/SocketCapacity", {
  defaultValue: () => ({ sockets: 20_000, unauthenticated: 5_000, unauthenticatedPerClient: 1_000 })
})

/** Retry delay for a client with too many unauthenticated sockets, which are closed after 5 s. */
const UNAUTHENTICATED_RETRY_SECONDS = 5
/** Interval between retries of sockets that are paused by their rate limit. */
const RETRY_EVERY = "250 millis"
/** Time limit for the peer's half of the closing handshake, in milliseconds. */
const CLOSING_GRACE = 2_000
/** Shutdown limits: for requests in progress, for releasing leases, and for clients to answer the close frame. */
const FINISH_WITHIN = "500 millis"
const RELEASE_WITHIN = "1 second"
const CLOSE_WITHIN = "1 second"

/** Compression would cost each socket more than everything else. The types of ws do not include `closeTimeout` yet. */
const SOCKET_OPTIONS = {
  noServer: true,
  maxPayload: REALTIME_MESSAGE_LIMIT_BYTES,
  maxBufferedChunks: READS_PER_FRAME_MAX,
  perMessageDeflate: false,
  clientTracking: false,
  closeTimeout: CLOSING_GRACE
}

const decodeMessage = Schema.decodeUnknownResult(Schema.fromJsonString(RealtimeClientMessage), {
  onExcessProperty: "error"
})

const TYPES = new Intl.ListFormat("en", { type: "disjunction" }).format(
  RealtimeClientMessage.members.map(({ fields }) => fields.type.literal)
)

/** Describes the first problem of a message: `eventId is missing.` */
const problemOf = ({ issue }: Schema.SchemaError): string => {
  const [, problem] = /^message\.(.+)$/.exec(settingIssues("message", issue)[0] ?? "") ?? []
  return problem === undefined ? `A message must be a JSON object in a text frame, with type ${TYPES}.` : `${problem}.`
}

/**
 * The WebSocket gateway. Authenticates sockets, opens a session for each, renews their leases while they answer, and
 * releases all leases when it stops.
 *
 * It takes upgrades itself, because sessions need features below messages: pings, the amount of unsent data, and
 * pausing reads. An idle socket costs only memory: it has no fiber, timer or statement of its own.
 */
const make = Effect.gen(function* () {
  const upgrades = yield* Upgrades
  const store = yield* EventStore
  const signal = yield* EventSignal
  const capacity = yield* SocketCapacity
  const agents = yield* AgentSessions
  const fork = yield* FiberSet.makeRuntime<never, void, never>()

  const sockets = new WebSocketServer(SOCKET_OPTIONS)
  sockets.on("wsClientError", (_error, stream) => answerBrokenHandshake(stream))
  const connections = new Connections()
  const sessions = new Sessions()
  const leases = yield* LeaseBatcher.make(fork)
  const limits = yield* SocketLimits.make
  const opening = yield* SessionOpening.make(sessions, leases, limits, fork)
  const maintenance = yield* SessionMaintenance.make(connections, sessions)
  /** Sessions that exceed their rate and are not read. */
  const throttled = new Set<Peer>()
  const shares = new FrameShares()
  const allClosed = Deferred.makeUnsafe<void>()
  let isStopping = false

  const receive = (peer: Peer, data: RawData, isBinary: boolean): void => {
    const { connection } = peer
    if (!connection.isOpen) return
    if (peer.hasSentCredential && peer.session === undefined)
      return void peer.early.push(() => receive(peer, data, isBinary))
    // Whole messages arrive as one Buffer, because that is the default `binaryType` of sockets.
    const decoded = decodeMessage(isBinary || !Buffer.isBuffer(data) ? undefined : data.toString("utf8"))
    if (Result.isFailure(decoded)) {
      connection.sendError("INVALID_REQUEST", problemOf(decoded.failure))
      return connection.close(CLOSE_CODES.badMessage.code, "bad message")
    }
    const message = decoded.success
    if (message.type === "event.ack") {
      if (peer.session !== undefined) return peer.session.acknowledge(message)
      return connection.close(CLOSE_CODES.unauthenticated.code, "authenticate first")
    }
    if (message.type === "call.reply") {
      if (peer.session !== undefined) return peer.session.reply(message)
      return connection.close(CLOSE_CODES.unauthenticated.code, "authenticate first")
    }
    if (peer.hasSentCredential) return connection.close(CLOSE_CODES.badMessage.code, "already authenticated")
    peer.hasSentCredential = true
    connections.keep(connection)
    // What arrived together with the credential waits here, and everything after it is not read.
    connection.pause("opening")
    opening.offer({ connection, message, opened: (session) => begin(peer, session) })
  }

  const begin = (peer: Peer, session: Session): void => {
    const { connection, early, meter } = peer
    const { sessionId, tenantId } = session.owner
    peer.session = session
    meter.begin({ tenantId, admit: () => limits.admitFrames(tenantId, sessionId) })
    for (const again of early.splice(0)) again()
    connection.resume("opening")
  }

  const leave = (peer: Peer): void => {
    const { connection, session } = peer
    connections.remove(connection)
    throttled.delete(peer)
    if (session !== undefined) {
      sessions.remove(session)
      if (session.mode === "deliver") leases.release(session)
      if (session.mode === "voice") fork(agents.disconnect([session.owner.sessionId]))
    }
    if (isStopping && connections.size === 0) Deferred.doneUnsafe(allClosed, Effect.void)
  }

  const accept = (socket: WebSocket, stream: Duplex, address: string) => {
    const meter = new FrameMeter(
      shares,
      () => throttled.add(peer),
      () => peer.hasSentCredential
    )
    const connection = new RealtimeConnection(socket, stream, address, {
      take: (given) => meter.take(given),
      refused: () => fork(limits.countRefusedFrames)
    })
    const peer: Peer = { connection, meter, hasSentCredential: false, early: [], session: undefined }
    connections.add(connection)
    socket.on("message", (data, isBinary) => receive(peer, data, isBinary))
    socket.once("close", () => leave(peer))
  }

  const upgrade: Upgrade = (request, stream, head) => {
    const address = limits.addressOf(request)
    const retryAfterSeconds = limits.countHandshake(address)
    if (retryAfterSeconds > 0) return upgrades.refuse(stream, retryAfterSeconds)
    if (connections.size >= capacity.sockets || connections.unauthenticatedCount >= capacity.unauthenticated) {
      return refuseUpgrade(stream, "503 Service Unavailable")
    }
    if (connections.unauthenticatedFrom(address) >= capacity.unauthenticatedPerClient) {
      return upgrades.refuse(stream, UNAUTHENTICATED_RETRY_SECONDS)
    }
    sockets.handleUpgrade(request, stream, head, (socket) => accept(socket, stream, address))
  }

  const stop = Effect.gen(function* () {
    isStopping = true
    yield* Effect.timeoutOption(Effect.andThen(leases.close, opening.idle), FINISH_WITHIN)
    const sessionIds = [...sessions].map(({ owner }) => owner.sessionId)
    const answering = [...sessions].filter(({ mode }) => mode === "voice").map(({ owner }) => owner.sessionId)
    yield* Effect.andThen(store.release(sessionIds, "withdrawn"), agents.disconnect(answering)).pipe(
      Effect.timeout(RELEASE_WITHIN),
      Effect.catchCause((cause) => Effect.logError("releasing leases failed; they will expire", cause))
    )
    for (const connection of connections) connection.close(CLOSE_CODES.restarting.code, "the server is restarting")
    if (connections.size > 0) yield* Effect.raceFirst(Deferred.await(allClosed), Effect.sleep(CLOSE_WITHIN))
    for (const connection of connections) connection.terminate()
    sockets.close()
  })

  yield* Effect.addFinalizer(() => stop)
  // Released first: from then on, upgrades are answered with 503.
  yield* upgrades.take((path) => path === REALTIME_PATH, upgrade)
  yield* Effect.forkScoped(
    Effect.repeat(
      Effect.sync(() => {
        for (const peer of throttled) if (peer.meter.retry(peer.connection)) throttled.delete(peer)
      }),
      Schedule.spaced(RETRY_EVERY)
    )
  )
  yield* signal.listen((wakeUp) => {
    // If the signal does not name the tenants, one query to the store finds the sessions to wake, instead of one per
    // session.
    if (wakeUp === "all") return fork(maintenance.wakePending)
    for (const tenantId of wakeUp) for (const session of sessions.of(tenantId)) session.wake()
  })
})

/** The state of one socket. */
interface Peer {
  readonly connection: RealtimeConnection
  readonly meter: FrameMeter
  hasSentCredential: boolean
  /** Receives the messages that arrived behind the credential and before the session: fewer than 20. */
  readonly early: Array<() => void>
  /** Set once the credential has been verified. */
  session: Session | undefined
}

/** Serves the realtime protocol on the server's port for as long as the layer lives. */
export const layer = Layer.effectDiscard(make)
