import { Context, Effect, FiberSet, Layer, Option, Queue, Random, Schema, Stream } from "effect"
import * as Batcher from "../kernel/Batcher.ts"
import * as Bytes from "../kernel/Bytes.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { type AgentMessage, type AgentReply, AgentUnreachable, CONTEXT_TURNS } from "./AgentCallback.ts"
import { type AgentSession, AgentSessionStore, type ServerMessage } from "./AgentSessionStore.ts"
import { CallDirection } from "./Call.ts"
import { Turn } from "./Transcript.ts"

/** The maximum number of open turns of one session. */
export const TURNS_IN_FLIGHT_MAX = 64
/** How long another server may take to confirm that a session has a turn. Then the next session is asked. */
const ACCEPTED_WITHIN = 1 * Timestamp.SECOND
/** After this time without a reply, another server must confirm again that the session has the turn. */
const CONFIRMED_EVERY = 2 * Timestamp.SECOND
/** The limits of an answer, the same as those of a webhook. */
const FIRST_WITHIN = 5 * Timestamp.SECOND
const WHOLE_WITHIN = 30 * Timestamp.SECOND
const ANSWER_BYTES_MAX = 65_536
/** An open turn is forgotten after this time, in case the server that asked is gone. */
const FORGOTTEN_AFTER = 40 * Timestamp.SECOND
/** The maximum number of messages in one statement. */
const MESSAGES_AT_ONCE = 100

/** A turn of a call, as a session receives it. */
export interface AgentTurn extends AgentMessage {
  readonly turnId: string
}

/** A part of a session's answer. The answer is complete unless `more` is true. */
export interface TurnReply {
  readonly callId: string
  readonly turnId: string
  readonly text?: string | undefined
  readonly hangup?: boolean | undefined
  readonly more?: boolean | undefined
  /** The session does not answer the turn: the next one is asked at once. */
  readonly decline?: boolean | undefined
}

/** A connected session of this server, and the functions that send to its socket. */
export interface ConnectedSession {
  readonly sessionId: string
  readonly tenantId: TenantId
  /** The numbers whose calls it answers, at least one; null for all. */
  readonly phoneNumberIds: ReadonlyArray<string> | null
  readonly ask: (turn: AgentTurn) => void
  readonly interrupted: (turn: { readonly callId: string; readonly turnId: string }) => void
}

const Message = Schema.Struct({
  callId: Schema.String,
  phoneNumberId: Schema.String,
  direction: CallDirection,
  from: Schema.String,
  to: Schema.String,
  turn: Schema.Struct({ text: Schema.String, at: Timestamp.Timestamp }),
  transcriptSoFar: Schema.Array(Turn)
})

const Answer = Schema.Union([
  /** The session has the turn. `isCheckable`: its server also answers `Check`, which older servers do not. */
  Schema.TaggedStruct("Accepted", { isCheckable: Schema.optionalKey(Schema.Boolean) }),
  /** The session is not connected to that server any more, or has too many open turns. */
  Schema.TaggedStruct("Refused", { isFull: Schema.Boolean }),
  Schema.TaggedStruct("Reply", {
    text: Schema.optionalKey(Schema.String),
    hangup: Schema.Boolean,
    more: Schema.Boolean
  })
])
type Answer = typeof Answer.Type

/** A message between the server of a call and the server of a session. */
const Parcel = Schema.Union([
  Schema.TaggedStruct("Ask", {
    sessionId: Schema.String,
    turnId: Schema.String,
    replyTo: Schema.String,
    message: Message
  }),
  /** Asks whether the session still has the turn. */
  Schema.TaggedStruct("Check", { sessionId: Schema.String, turnId: Schema.String, replyTo: Schema.String }),
  Schema.TaggedStruct("Interrupt", { sessionId: Schema.String, turnId: Schema.String, callId: Schema.String }),
  Schema.TaggedStruct("Answer", { turnId: Schema.String, answer: Answer })
])
type Parcel = typeof Parcel.Type
const ParcelJson = Schema.fromJsonString(Parcel)
const encodeParcel = Schema.encodeSync(ParcelJson)
const decodeParcel = Schema.decodeUnknownOption(ParcelJson)

/** The session can't answer; another one may. */
class SessionLost extends Schema.TaggedError<SessionLost>()("SessionLost", { isFull: Schema.Boolean }) {}

const timedOut = (what: string) =>
  Effect.fail(new AgentUnreachable({ reason: "timeout", message: `The voice session did not ${what}.` }))

/** A turn that a session of this server has not answered completely. */
interface OpenTurn {
  readonly callId: string
  readonly replyTo: string
  readonly openedAt: Timestamp.Timestamp
}

interface LocalSession extends ConnectedSession {
  readonly open: Map<string, OpenTurn>
}

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
     * random session and keeps it while it is connected. A session that declines the turn, closes before its answer is
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
      const sessions = new Map<string, LocalSession>()
      /** By turnId: the answers to the questions of this server. */
      const asked = new Map<string, Queue.Queue<Answer>>()
      /** By callId: the session that answers it, and the last turn of which it was not told that it is over. */
      const assigned = new Map<string, { readonly session: AgentSession; readonly turnId: string | undefined }>()
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
        if (to === serverId) return receive(parcel)
        outbox.offer({ to, body: encodeParcel(parcel) })
      }
      const answer = (to: string, turnId: string, given: Answer) => post(to, { _tag: "Answer", turnId, answer: given })

      const receive = (parcel: Parcel): void => {
        switch (parcel._tag) {
          case "Answer": {
            const queue = asked.get(parcel.turnId)
            if (queue !== undefined) Queue.offerUnsafe(queue, parcel.answer)
            return
          }
          case "Interrupt": {
            const session = sessions.get(parcel.sessionId)
            session?.open.delete(parcel.turnId)
            return session?.interrupted({ callId: parcel.callId, turnId: parcel.turnId })
          }
          case "Ask": {
            const { message, replyTo, turnId } = parcel
            const session = sessions.get(parcel.sessionId)
            const isFull = session !== undefined && session.open.size >= TURNS_IN_FLIGHT_MAX
            if (session === undefined || isFull) return answer(replyTo, turnId, { _tag: "Refused", isFull })
            session.open.set(turnId, { callId: message.callId, replyTo, openedAt: message.turn.at })
            answer(replyTo, turnId, ACCEPTED)
            return session.ask({ turnId, ...message })
          }
          case "Check": {
            const { replyTo, sessionId, turnId } = parcel
            const isOpen = sessions.get(sessionId)?.open.has(turnId) === true
            return answer(replyTo, turnId, isOpen ? ACCEPTED : { _tag: "Refused", isFull: false })
          }
        }
      }

      /** Exchanges one turn with one session. Fails with `SessionLost` if the session can't complete its answer. */
      const exchange = Effect.fnUntraced(function* (
        session: AgentSession,
        turnId: string,
        message: AgentMessage,
        onReply: (reply: AgentReply) => void
      ) {
        const answers = yield* Queue.unbounded<Answer>()
        asked.set(turnId, answers)
        let isOpen = true
        const next = Effect.flatMap(Queue.take(answers), (given) => {
          if (given._tag !== "Refused") return Effect.succeed(given)
          isOpen = false
          return Effect.fail(new SessionLost({ isFull: given.isFull }))
        })
        const { sessionId } = session
        const confirmed = Effect.timeoutOrElse(next, {
          duration: ACCEPTED_WITHIN,
          orElse: () => Effect.fail(new SessionLost({ isFull: false }))
        })
        /** Awaits the next reply, and asks a silent server from time to time whether it still runs. */
        const awaitReply = Effect.fnUntraced(function* (isCheckable: boolean) {
          const checked = Effect.suspend(() => {
            post(session.serverId, { _tag: "Check", sessionId, turnId, replyTo: serverId })
            return confirmed
          })
          for (;;) {
            const given = yield* isCheckable
              ? Effect.timeoutOrElse(next, { duration: CONFIRMED_EVERY, orElse: () => checked })
              : next
            if (given._tag === "Reply") return given
          }
        })
        const spoken = Effect.gen(function* () {
          post(session.serverId, { _tag: "Ask", sessionId, turnId, replyTo: serverId, message })
          const accepted = yield* confirmed
          const reply = awaitReply(accepted._tag === "Accepted" && accepted.isCheckable === true)
          let bytes = 0
          for (let isFirst = true; isOpen; isFirst = false) {
            const given = yield* isFirst
              ? Effect.timeoutOrElse(reply, {
                  duration: FIRST_WITHIN,
                  orElse: () => timedOut(`begin to answer within ${FIRST_WITHIN / Timestamp.SECOND} s`)
                })
              : reply
            bytes += Bytes.fromText(given.text ?? "").length
            if (bytes > ANSWER_BYTES_MAX) {
              return yield* new AgentUnreachable({
                reason: "answer",
                message: `The voice session answered with more than ${ANSWER_BYTES_MAX} bytes.`
              })
            }
            if (given.text !== undefined) onReply({ _tag: "Say", text: given.text })
            if (given.hangup) onReply({ _tag: "HangUp" })
            isOpen = given.more && !given.hangup
          }
        })
        yield* Effect.timeoutOrElse(spoken, {
          duration: WHOLE_WITHIN,
          orElse: () => timedOut(`finish its answer within ${WHOLE_WITHIN / Timestamp.SECOND} s`)
        }).pipe(
          Effect.tapError(() => Effect.sync(() => assigned.delete(message.callId))),
          Effect.ensuring(
            Effect.sync(() => {
              asked.delete(turnId)
              if (isOpen) tellInterrupted(session, message.callId, turnId)
            })
          )
        )
      })

      const tellInterrupted = (session: AgentSession, callId: string, turnId: string): void => {
        const { sessionId } = session
        if (assigned.get(callId)?.turnId === turnId) assigned.set(callId, { session, turnId: undefined })
        post(session.serverId, { _tag: "Interrupt", sessionId, turnId, callId })
      }

      const select = Effect.fnUntraced(function* (callId: string, listed: ReadonlyArray<AgentSession>) {
        const kept = listed.find(({ sessionId }) => sessionId === assigned.get(callId)?.session.sessionId)
        if (kept !== undefined || listed.length === 0) return kept
        return listed[yield* Random.nextIntBetween(0, listed.length - 1)]
      })

      const askNext = (
        tenantId: TenantId,
        message: AgentMessage,
        otherwise: Stream.Stream<AgentReply, AgentUnreachable>,
        lost: ReadonlyMap<string, SessionLost>
      ): Stream.Stream<AgentReply, AgentUnreachable> =>
        Stream.unwrap(
          Effect.gen(function* () {
            const { callId } = message
            const listed = yield* store.list(tenantId)
            const session = yield* select(
              callId,
              listed.filter(
                ({ phoneNumberIds, sessionId }) =>
                  !lost.has(sessionId) && (phoneNumberIds?.includes(message.phoneNumberId) ?? true)
              )
            )
            if (session === undefined) {
              return [...lost.values()].some(({ isFull }) => isFull) ? Stream.fail(allFull) : otherwise
            }
            const turnId = yield* Uuid.next
            assigned.set(callId, { session, turnId })
            return Stream.callback<AgentReply, AgentUnreachable | SessionLost>(
              (queue) =>
                exchange(session, turnId, message, (reply) => Queue.offerUnsafe(queue, reply)).pipe(
                  Effect.andThen(Queue.end(queue))
                ),
              // A reply has at least one byte or is the last one, so the buffer fits every answer.
              { bufferSize: ANSWER_BYTES_MAX }
            ).pipe(
              Stream.catchTag("SessionLost", (error) =>
                askNext(tenantId, message, otherwise, new Map([...lost, [session.sessionId, error]]))
              )
            )
          })
        )

      const disconnect = Effect.fnUntraced(function* (sessionIds: ReadonlyArray<string>) {
        for (const sessionId of sessionIds) {
          const session = sessions.get(sessionId)
          sessions.delete(sessionId)
          for (const [turnId, { replyTo }] of session?.open ?? []) {
            answer(replyTo, turnId, { _tag: "Refused", isFull: false })
          }
        }
        if (sessionIds.length > 0) yield* store.remove(sessionIds)
      })

      const listedAs = ({ phoneNumberIds, sessionId, tenantId }: ConnectedSession): AgentSession => ({
        sessionId,
        tenantId,
        serverId,
        phoneNumberIds
      })

      const keep = Effect.gen(function* () {
        const now = yield* Timestamp.now
        for (const { open } of sessions.values()) {
          for (const [turnId, { openedAt }] of open) if (now - openedAt > FORGOTTEN_AFTER) open.delete(turnId)
        }
        const all = [...sessions.values()]
        if (all.length > 0) yield* store.keep(all.map(listedAs))
      })

      yield* store.listen((body) => {
        const parcel = decodeParcel(body)
        // A parcel of a newer server that this one does not know is dropped: its sender asks the next session.
        if (Option.isSome(parcel)) receive(parcel.value)
      })
      yield* Effect.addFinalizer(() => Effect.andThen(disconnect([...sessions.keys()]), outbox.idle))

      return AgentSessions.of({
        connect: (session) =>
          Effect.suspend(() => {
            sessions.set(session.sessionId, { ...session, open: new Map() })
            return store.keep([listedAs(session)])
          }),
        disconnect,
        keep,
        reply: (sessionId, { callId, decline = false, hangup = false, more = false, text, turnId }) => {
          const open = sessions.get(sessionId)?.open
          const turn = open?.get(turnId)
          if (open === undefined || turn === undefined || turn.callId !== callId) {
            return `Turn ${turnId} of call ${callId} is not open in this session: it was answered, interrupted or never asked.`
          }
          if (!more || hangup || decline) open.delete(turnId)
          if (decline) {
            answer(turn.replyTo, turnId, { _tag: "Refused", isFull: false })
            return undefined
          }
          answer(turn.replyTo, turnId, { _tag: "Reply", ...(text === undefined ? {} : { text }), hangup, more })
          return undefined
        },
        ask: (tenantId, message, otherwise) => {
          const transcriptSoFar = message.transcriptSoFar.slice(-CONTEXT_TURNS)
          return askNext(tenantId, { ...message, transcriptSoFar }, otherwise, new Map())
        },
        interrupted: (callId) =>
          Effect.sync(() => {
            const last = assigned.get(callId)
            if (last?.turnId !== undefined) tellInterrupted(last.session, callId, last.turnId)
          }),
        forget: (callId) => Effect.sync(() => void assigned.delete(callId))
      })
    })
  )
}

const ACCEPTED: Answer = { _tag: "Accepted", isCheckable: true }

const allFull = new AgentUnreachable({
  reason: "answer",
  message: `Every voice session has ${TURNS_IN_FLIGHT_MAX} open turns. Connect another one, or answer faster.`
})
