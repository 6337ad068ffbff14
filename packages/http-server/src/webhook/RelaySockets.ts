import { type Call, type RelayCommand, VoiceConversations } from "@agentos/core"
import { TwilioSignature } from "@agentos/provider-twilio"
import { Cause, Deferred, Effect, FiberSet, Layer, Option, Redacted, Schedule, Stream } from "effect"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import { pathOf } from "../edge/RequestLimits.ts"
import * as SocketLimits from "../edge/SocketLimits.ts"
import { refuseUpgrade, type Upgrade, Upgrades } from "../edge/Upgrades.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { Handover } from "./Handover.ts"
import { countedRelay } from "./RelayMetrics.ts"
import { RELAY_CLOSE, RELAY_SOCKET_OPTIONS, RelayPeer } from "./RelayPeer.ts"
import { isRelay, relayTokenOf } from "./WebhookPath.ts"

/** Maximum number of concurrent calls of one server. */
const SOCKET_LIMIT = 5_000
/** Slightly less than the carrier's timeout for a handshake. */
const ADMIT_WITHIN = "5 seconds"
/** A socket that has not named its call by then is closed. */
const SETUP_WITHIN = "10 seconds"
/**
 * How long a conversation may take to finish once its socket is closed, and how long the carrier may take to close an
 * ended one.
 */
const FINISH_WITHIN = "2 seconds"
const HEARTBEAT_EVERY = "20 seconds"
/** Shutdown limit: for the conversations to finish, and for the carrier to ask how their calls continue. */
const GOODBYE = "2500 millis"

/**
 * The sockets of calls. Each is admitted once, by the carrier's signature and by a token of its call, and has its own
 * conversation, which ends with it. When the server stops, they are closed as broken, so that the carrier asks how each
 * call continues; the server listens until it has.
 */
const make = Effect.fnUntraced(function* (authToken: Redacted.Redacted) {
  const conversations = yield* VoiceConversations
  const upgrades = yield* Upgrades
  const handover = yield* Handover
  const { publicUrl } = yield* ServerSettings
  const fork = yield* FiberSet.makeRuntime<never, void, never>()

  const limits = yield* SocketLimits.make
  const sockets = new WebSocketServer(RELAY_SOCKET_OPTIONS)
  /** Connections that were not refused, until they close. */
  const streams = new Set<Duplex>()
  /** The open sockets, with the ids of their calls. */
  const peers = new Map<RelayPeer, string>()
  const allEnded = Deferred.makeUnsafe<void>()

  /** Returns the carrier's call id that the socket states; none if the socket stays silent or closes. */
  const introduced = (peer: RelayPeer) =>
    Effect.raceFirst(
      Effect.asSome(Deferred.await(peer.setup)),
      Effect.as(Deferred.await(peer.closed), Option.none<string>())
    ).pipe(Effect.timeoutOption(SETUP_WITHIN), Effect.map(Option.flatten))

  const converse = Effect.fnUntraced(function* (call: Call, peer: RelayPeer) {
    const callSid = yield* introduced(peer)
    if (Option.isNone(callSid)) return peer.close(RELAY_CLOSE.refused, "no setup")
    if (call.providerCallId !== null && call.providerCallId !== callSid.value) {
      yield* Effect.logWarning("a relay was set up for another call than its own")
      return peer.close(RELAY_CLOSE.refused, "another call")
    }
    const send = (command: RelayCommand) => Effect.sync(() => peer.send(command))
    yield* Effect.raceFirst(
      conversations.run(call, Stream.fromQueue(peer.events), send),
      Effect.andThen(Deferred.await(peer.closed), Effect.sleep(FINISH_WITHIN))
    )
    // The carrier closes an ended relay.
    yield* Effect.timeoutOption(Deferred.await(peer.closed), FINISH_WITHIN)
    peer.close(RELAY_CLOSE.done, "the conversation is over")
  })

  /** Runs a conversation from the socket's first message until the conversation or the socket ends. */
  const lead = (call: Call, peer: RelayPeer): Effect.Effect<void> =>
    countedRelay(converse(call, peer)).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.andThen(
              Effect.logError("a conversation failed", cause),
              Effect.sync(() => peer.close(RELAY_CLOSE.failed, "failed"))
            )
      ),
      Effect.onExit(() =>
        Effect.sync(() => {
          peers.delete(peer)
          if (handover.isBegun() && peers.size === 0) Deferred.doneUnsafe(allEnded, Effect.void)
        })
      ),
      Effect.annotateLogs("callId", call.callId)
    )

  const admit = (request: IncomingMessage, stream: Duplex, head: Buffer): Effect.Effect<void> =>
    Effect.gen(function* () {
      const token = Redacted.make(relayTokenOf(pathOf(request.url ?? "")))
      const call = Option.flatten(yield* Effect.timeoutOption(conversations.admit(token), ADMIT_WITHIN))
      const events = yield* RelayPeer.queue
      if (Option.isNone(call)) return refuseUpgrade(stream, "404 Not Found")
      if (handover.isBegun()) return refuseUpgrade(stream, "503 Service Unavailable")
      sockets.handleUpgrade(request, stream, head, (socket) => {
        // Attached at once, because the first message may already have arrived.
        const { callId } = call.value
        const peer = new RelayPeer(socket, events, () => limits.admitRelayFrame(callId))
        peers.set(peer, callId)
        fork(lead(call.value, peer))
      })
    }).pipe(
      Effect.catchCause((cause) => {
        refuseUpgrade(stream, "503 Service Unavailable")
        return Effect.logError("a relay could not be let in", cause)
      })
    )

  /** The carrier is not rate limited. A request without the carrier's signature is treated like any other client's. */
  const refuseUnsigned = (request: IncomingMessage, stream: Duplex): void => {
    const address = limits.addressOf(request)
    const retryAfterSeconds = limits.countHandshake(address)
    if (retryAfterSeconds > 0) return upgrades.refuse(stream, retryAfterSeconds)
    fork(limits.chargeRefusedToken(address))
    refuseUpgrade(stream, "403 Forbidden")
  }

  const upgrade: Upgrade = (request, stream, head) => {
    if (handover.isBegun() || streams.size >= SOCKET_LIMIT) return refuseUpgrade(stream, "503 Service Unavailable")
    const url = `${publicUrl.replace(/^http/i, "ws")}${request.url}`
    const [signature] = [request.headers[TwilioSignature.SIGNATURE_HEADER]].flat()
    if (!TwilioSignature.verify(authToken, url, new URLSearchParams(), signature)) {
      return refuseUnsigned(request, stream)
    }
    streams.add(stream)
    stream.once("close", () => streams.delete(stream))
    fork(admit(request, stream, head))
  }

  const stop = Effect.gen(function* () {
    handover.begin(peers.values())
    for (const peer of peers.keys()) peer.close(RELAY_CLOSE.restarting, "the server is restarting")
    if (peers.size > 0) {
      yield* Effect.timeoutOption(Effect.andThen(Deferred.await(allEnded), handover.allAsked), GOODBYE)
    }
    for (const peer of peers.keys()) peer.terminate()
    sockets.close()
  })

  yield* Effect.addFinalizer(() => stop)
  // Released first: from then on, upgrades are answered with 503.
  yield* upgrades.take(isRelay, upgrade)
  yield* Effect.forkScoped(
    Effect.repeat(
      Effect.sync(() => peers.forEach((_callId, peer) => peer.heartbeat())),
      Schedule.spaced(HEARTBEAT_EVERY)
    )
  )
})

/** Serves the relays of calls on the server's port for as long as the layer lives; none without a carrier. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(ServerSettings, ({ carrierToken }) => (carrierToken === null ? Effect.void : make(carrierToken)))
)
