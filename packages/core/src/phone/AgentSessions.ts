import { Context, Effect, FiberSet, Layer, Option, type Stream } from "effect"
import * as Batcher from "../kernel/Batcher.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { type AgentMessage, type AgentReply, type AgentUnreachable, CONTEXT_TURNS } from "./AgentCallback.ts"
import { AgentSessionStore, type ServerMessage } from "./AgentSessionStore.ts"
import { AskedTurns } from "./AskedTurns.ts"
import { type ConnectedSession, ConnectedSessions, type TurnReply } from "./ConnectedSessions.ts"
import { decodeParcel, encodeParcel, type Parcel } from "./SessionParcel.ts"

/** The maximum number of messages in one statement. */
const MESSAGES_AT_ONCE = 100

/**
 * The voice sessions of all servers: sockets over which agents answer calls without a public address. Each server both
 * asks the sessions on behalf of its calls, and passes the turns of all servers on to the sessions that it has.
 */
export class AgentSessions extends Context.Service<
  AgentSessions,
  {
    /** Makes a session available to the calls of its tenant on every server. */
    readonly connect: (session: ConnectedSession) => Effect.Effect<void>
    /** Ends sessions. Their open turns are passed to other sessions. */
    readonly disconnect: (sessionIds: ReadonlyArray<string>) => Effect.Effect<void>
    /** Renews the sessions of this server. Must be called at least every 10 s. */
    readonly keep: Effect.Effect<void>
    /** Passes a reply of a session on. Returns why it is refused, or undefined. */
    readonly reply: (sessionId: string, reply: TurnReply) => string | undefined
    /**
     * Asks one of the tenant's sessions that answer the call's number, and streams its answer. A call is assigned to a
     * random session and keeps it while it is connected; those that name its number come before those for all numbers. A session that declines the turn, closes before its answer is
     * complete, or has too many open turns, is replaced by the next one, and by `otherwise` if none is left.
     */
    readonly ask: (
      tenantId: TenantId,
      message: AgentMessage,
      otherwise: Stream.Stream<AgentReply, AgentUnreachable>
    ) => Stream.Stream<AgentReply, AgentUnreachable>
    /** Reports that the caller spoke over the last answer of a call. */
    readonly interrupted: (callId: string) => Effect.Effect<void>
    /** Ends the assignment of a call. */
    readonly forget: (callId: string) => Effect.Effect<void>
  }
>()("@agentos/core/phone/AgentSessions") {
  static readonly layer = Layer.effect(
    AgentSessions,
    Effect.gen(function* () {
      const store = yield* AgentSessionStore
      const { serverId } = store
      const outbox = Batcher.make<ServerMessage, never>(
        {
          limit: MESSAGES_AT_ONCE,
          // A turn is one message, and a caller waits for its answer.
          beginsAtOnce: true,
          work: store.send,
          failed: (_, cause) => Effect.logError("sending turns to other servers failed", cause)
        },
        yield* FiberSet.makeRuntime<never, void, never>()
      )
      const post = (to: string, parcel: Parcel): void => {
        if (to === serverId) receive(parcel)
        else outbox.offer({ to, body: encodeParcel(parcel) })
      }
      const turns = new AskedTurns(serverId, post)
      const sessions = new ConnectedSessions(serverId, post)
      const receive = (parcel: Parcel): void => {
        if (parcel._tag === "Answer") turns.receive(parcel.turnId, parcel.answer)
        else sessions.receive(parcel)
      }

      const disconnect = Effect.fnUntraced(function* (sessionIds: ReadonlyArray<string>) {
        for (const sessionId of sessionIds) sessions.remove(sessionId)
        if (sessionIds.length > 0) yield* store.remove(sessionIds)
      })

      yield* store.listen((body) => {
        const parcel = decodeParcel(body)
        // The sender of a parcel that this server does not know asks the next session.
        if (Option.isSome(parcel)) receive(parcel.value)
      })
      yield* Effect.addFinalizer(() => Effect.andThen(disconnect(sessions.ids), outbox.idle))

      return AgentSessions.of({
        connect: (session) => Effect.suspend(() => store.keep([sessions.add(session)])),
        disconnect,
        keep: Effect.gen(function* () {
          sessions.forgetTurns(yield* Timestamp.now)
          if (sessions.listed.length > 0) yield* store.keep(sessions.listed)
        }),
        reply: (sessionId, reply) => sessions.reply(sessionId, reply),
        ask: (tenantId, message, otherwise) => {
          const transcriptSoFar = message.transcriptSoFar.slice(-CONTEXT_TURNS)
          return turns.ask(store.list(tenantId), { ...message, transcriptSoFar }, otherwise)
        },
        interrupted: (callId) => Effect.sync(() => turns.interrupt(callId)),
        forget: (callId) => Effect.sync(() => turns.forget(callId))
      })
    })
  )
}
