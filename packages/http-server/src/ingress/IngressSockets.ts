import {
  Ingress,
  type IngressRequest,
  type ProviderIngress,
  type SocketEndpoint,
  type SocketSession
} from "@agentos/core"
import { Cause, Deferred, Effect, Fiber, FiberSet, Layer, Option, Schedule } from "effect"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import { pathOf, repeatedHeader, singleHeaders } from "../edge/RequestLimits.ts"
import { READS_PER_FRAME_MAX } from "../connection/FrameGate.ts"
import * as SocketLimits from "../connection/SocketLimits.ts"
import { refuseUpgrade, type Upgrade, Upgrades } from "../connection/Upgrades.ts"
import { matchPath } from "../edge/IngressPath.ts"
import { makeMessages, SOCKET_CLOSE, SocketPeer } from "./SocketPeer.ts"

/** Slightly less than the timeout of providers for a handshake. */
const ADMISSION_TIMEOUT = "5 seconds"
/** How long a session may run once its socket has closed, and how long a provider may take to close an ended socket. */
const FINISH_TIMEOUT = "2 seconds"
const HEARTBEAT_INTERVAL = "20 seconds"
/** Shutdown limit: for the sessions to finish, and for the providers to ask how they continue. */
const DRAIN_TIMEOUT = "2500 millis"

/** The types of ws do not include `closeTimeout` yet. Compression would cost each socket more than everything else. */
const SOCKET_OPTIONS = {
  noServer: true,
  perMessageDeflate: false,
  clientTracking: false,
  closeTimeout: 2_000,
  maxBufferedChunks: READS_PER_FRAME_MAX
}

/**
 * Serves one endpoint. Each socket is admitted by its handshake and has one session, which ends with it. When the server
 * stops, sockets are closed as restarting, and the server listens until the provider has drained their sessions.
 */
const serve = Effect.fnUntraced(function* (provider: ProviderIngress, endpoint: SocketEndpoint) {
  const upgrades = yield* Upgrades
  const limits = yield* SocketLimits.make
  const fork = yield* FiberSet.makeRuntime<never, void, never>()
  const admitFrame = limits.relayFrames(endpoint.limits.frames)
  const names = singleHeaders(provider.singleHeaders)

  const sockets = new WebSocketServer({ ...SOCKET_OPTIONS, maxPayload: endpoint.limits.messageBytes })
  /** Connections that were not refused, until they close. */
  const streams = new Set<Duplex>()
  /** The open sockets, with the ids of their sessions. */
  const peers = new Map<SocketPeer, string>()
  const allEnded = Deferred.makeUnsafe<void>()
  let isStopping = false

  const runSession = Effect.fnUntraced(function* (session: SocketSession, peer: SocketPeer) {
    yield* Effect.raceFirst(
      session.run(peer),
      Effect.andThen(Deferred.await(peer.closed), Effect.sleep(FINISH_TIMEOUT))
    )
    // Providers close the socket of an ended session themselves.
    yield* Effect.timeoutOption(Deferred.await(peer.closed), FINISH_TIMEOUT)
    peer.closeNow(SOCKET_CLOSE.done, "the session is over")
  })

  const run = (session: SocketSession, peer: SocketPeer): Effect.Effect<void> =>
    runSession(session, peer).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.andThen(
              Effect.logError("the session of a provider's socket failed", cause),
              peer.close(SOCKET_CLOSE.failed, "failed")
            )
      ),
      Effect.onExit(() =>
        Effect.sync(() => {
          peers.delete(peer)
          if (isStopping && peers.size === 0) Deferred.doneUnsafe(allEnded, Effect.void)
        })
      ),
      Effect.annotateLogs({ provider: provider.provider, session: session.id })
    )

  const admit = (handshake: IngressRequest, request: IncomingMessage, stream: Duplex, head: Buffer) =>
    Effect.gen(function* () {
      const session = Option.flatten(yield* Effect.timeoutOption(endpoint.admit(handshake), ADMISSION_TIMEOUT))
      const messages = yield* makeMessages(endpoint.limits.unreadMessages)
      if (Option.isNone(session)) return refuseUpgrade(stream, "404 Not Found")
      if (isStopping) return refuseUpgrade(stream, "503 Service Unavailable")
      sockets.handleUpgrade(request, stream, head, (socket) => {
        // Attached at once, because the first message may already have arrived.
        const { id } = session.value
        const peer = new SocketPeer(socket, stream, messages, {
          admit: () => admitFrame(id),
          refused: () => fork(limits.countRefusedFrames)
        })
        peers.set(peer, id)
        fork(run(session.value, peer))
      })
    }).pipe(
      Effect.catchCause((cause) => {
        refuseUpgrade(stream, "503 Service Unavailable")
        return Effect.logError("the socket of a provider could not be admitted", cause)
      })
    )

  /** Authentic handshakes are not rate limited. Others are treated like those of any client. */
  const refuseUnauthenticated = (request: IncomingMessage, stream: Duplex): void => {
    const address = limits.addressOf(request)
    const retryAfterSeconds = limits.countHandshake(address)
    if (retryAfterSeconds > 0) return upgrades.refuse(stream, retryAfterSeconds)
    fork(limits.chargeRefusedToken(address))
    refuseUpgrade(stream, "403 Forbidden")
  }

  const upgrade: Upgrade = (request, stream, head) => {
    if (isStopping || streams.size >= endpoint.limits.sockets) return refuseUpgrade(stream, "503 Service Unavailable")
    if (repeatedHeader(request.rawHeaders, names) !== undefined) return refuseUpgrade(stream, "400 Bad Request")
    const handshake = handshakeOf(request, endpoint)
    if (!endpoint.isAuthentic(handshake)) return refuseUnauthenticated(request, stream)
    streams.add(stream)
    stream.once("close", () => streams.delete(stream))
    fork(admit(handshake, request, stream, head))
  }

  const stop = Effect.gen(function* () {
    isStopping = true
    // Started before the sockets close, because the provider may ask at once.
    const drained = yield* Effect.forkChild(endpoint.drain([...peers.values()]), { startImmediately: true })
    for (const peer of peers.keys()) peer.closeNow(SOCKET_CLOSE.restarting, "the server is restarting")
    if (peers.size > 0) {
      yield* Effect.timeoutOption(Effect.andThen(Deferred.await(allEnded), Fiber.await(drained)), DRAIN_TIMEOUT)
    }
    yield* Fiber.interrupt(drained)
    for (const peer of peers.keys()) peer.terminate()
    sockets.close()
  })

  return {
    matches: (path: string) => matchPath(endpoint.path, path) !== undefined,
    upgrade,
    heartbeat: Effect.sync(() => peers.forEach((_id, peer) => peer.heartbeat())),
    stop
  }
})

const handshakeOf = ({ headers, url = "" }: IncomingMessage, { path }: SocketEndpoint): IngressRequest => ({
  target: url,
  parameter: matchPath(path, pathOf(url)) ?? "",
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()[0]]))
})

const make = Effect.gen(function* () {
  const upgrades = yield* Upgrades
  const providers = yield* Ingress
  const served = yield* Effect.forEach(
    providers.flatMap((provider) => provider.sockets.map((endpoint) => ({ provider, endpoint }))),
    ({ endpoint, provider }) => serve(provider, endpoint)
  )
  yield* Effect.addFinalizer(() =>
    Effect.forEach(served, ({ stop }) => stop, { concurrency: "unbounded", discard: true })
  )
  // Released first: from then on, upgrades are answered with 503.
  yield* Effect.forEach(served, ({ matches, upgrade }) => upgrades.take(matches, upgrade))
  yield* Effect.forkScoped(
    Effect.repeat(
      Effect.forEach(served, ({ heartbeat }) => heartbeat),
      Schedule.spaced(HEARTBEAT_INTERVAL)
    )
  )
})

/** Serves the sockets of all configured providers on the server's port for as long as the layer lives. */
export const layer = Layer.effectDiscard(make)
