import { Effect, Exit, Queue, Random, Schema, Stream } from "effect"
import * as Bytes from "../kernel/Bytes.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { type AgentMessage, type AgentReply, AgentUnreachable } from "./AgentCallback.ts"
import type { AgentSession } from "./AgentSessionStore.ts"
import { TURNS_IN_FLIGHT_MAX } from "./ConnectedSessions.ts"
import type { Post, TurnAnswer } from "./SessionParcel.ts"

/** How long another server may take to confirm that a session has a turn. Then the next session is asked. */
const ACCEPTED_WITHIN = 1 * Timestamp.SECOND
/** After this time without a reply, another server must confirm again that the session has the turn. */
const CONFIRMED_EVERY = 2 * Timestamp.SECOND
/** The limits of an answer, the same as those of a webhook. */
const FIRST_WITHIN = 5 * Timestamp.SECOND
const WHOLE_WITHIN = 30 * Timestamp.SECOND
const ANSWER_BYTES_MAX = 65_536

/** The session can't answer; another one may. */
class SessionLost extends Schema.TaggedError<SessionLost>()("SessionLost", { isFull: Schema.Boolean }) {}

const timedOut = (what: string) =>
  Effect.fail(new AgentUnreachable({ reason: "timeout", message: `The voice session did not ${what}.` }))

const allFull = new AgentUnreachable({
  reason: "answer",
  message: `Every voice session has ${TURNS_IN_FLIGHT_MAX} open turns. Connect another one, or answer faster.`
})

/** The questions of this server's calls, and the session that each call is assigned to. */
export class AskedTurns {
  /** By turnId: the answers to the questions of this server. */
  private readonly answers = new Map<string, Queue.Queue<TurnAnswer>>()
  /** By callId: the session that answers it, and the last turn of which it was not told that it is over. */
  private readonly assigned = new Map<string, { readonly session: AgentSession; readonly turnId: string | undefined }>()
  private readonly serverId: string
  private readonly post: Post

  constructor(serverId: string, post: Post) {
    this.serverId = serverId
    this.post = post
  }

  /** Takes an answer of a session's server. One to a turn that is over is dropped. */
  receive(turnId: string, answer: TurnAnswer): void {
    const queue = this.answers.get(turnId)
    if (queue !== undefined) Queue.offerUnsafe(queue, answer)
  }

  /** Tells the session of a call that its last turn is over. */
  interrupt(callId: string): void {
    const last = this.assigned.get(callId)
    if (last?.turnId !== undefined) this.tellInterrupted(last.session, callId, last.turnId)
  }

  forget(callId: string): void {
    this.assigned.delete(callId)
  }

  /**
   * Asks one of the listed sessions that answer the call's number and streams its answer; then the next one, if it can't
   * complete its answer. Streams `otherwise` if none is left.
   */
  ask(
    list: Effect.Effect<ReadonlyArray<AgentSession>>,
    message: AgentMessage,
    otherwise: Stream.Stream<AgentReply, AgentUnreachable>,
    lost: ReadonlyMap<string, SessionLost> = new Map()
  ): Stream.Stream<AgentReply, AgentUnreachable> {
    return Stream.unwrap(
      Effect.gen({ self: this }, function* () {
        const { callId, phoneNumberId } = message
        const candidates = (yield* list).filter(
          ({ phoneNumberIds, sessionId }) => !lost.has(sessionId) && (phoneNumberIds?.includes(phoneNumberId) ?? true)
        )
        const session = yield* this.select(callId, candidates)
        if (session === undefined) {
          return [...lost.values()].some(({ isFull }) => isFull) ? Stream.fail(allFull) : otherwise
        }
        const turnId = yield* Uuid.next
        this.assigned.set(callId, { session, turnId })
        return Stream.callback<AgentReply, AgentUnreachable | SessionLost>(
          (queue) =>
            this.exchange(session, turnId, message, (reply) => Queue.offerUnsafe(queue, reply)).pipe(
              Effect.andThen(Queue.end(queue))
            ),
          // A reply has at least one byte or is the last one, so the buffer fits every answer.
          { bufferSize: ANSWER_BYTES_MAX }
        ).pipe(
          Stream.catchTag("SessionLost", (error) =>
            this.ask(list, message, otherwise, new Map([...lost, [session.sessionId, error]]))
          )
        )
      })
    )
  }

  /** The session that the call has, otherwise a random one: of those that name the number, if there are any. */
  private select(callId: string, candidates: ReadonlyArray<AgentSession>): Effect.Effect<AgentSession | undefined> {
    const kept = candidates.find(({ sessionId }) => sessionId === this.assigned.get(callId)?.session.sessionId)
    if (kept !== undefined || candidates.length === 0) return Effect.succeed(kept)
    const naming = candidates.filter(({ phoneNumberIds }) => phoneNumberIds !== null)
    const preferred = naming.length > 0 ? naming : candidates
    return Effect.map(Random.nextIntBetween(0, preferred.length - 1), (index) => preferred[index])
  }

  /** Exchanges one turn with one session. Fails with `SessionLost` if the session can't complete its answer. */
  private exchange(
    session: AgentSession,
    turnId: string,
    message: AgentMessage,
    onReply: (reply: AgentReply) => void
  ): Effect.Effect<void, AgentUnreachable | SessionLost> {
    return Effect.gen({ self: this }, function* () {
      const answers = yield* Queue.unbounded<TurnAnswer>()
      this.answers.set(turnId, answers)
      let isRefused = false
      const next = Effect.flatMap(Queue.take(answers), (given) => {
        if (given._tag !== "Refused") return Effect.succeed(given)
        isRefused = true
        return Effect.fail(new SessionLost({ isFull: given.isFull }))
      })
      const { serverId: to, sessionId } = session
      const question = { sessionId, turnId, replyTo: this.serverId }
      const dialog = {
        next,
        ask: () => this.post(to, { _tag: "Ask", ...question, message }),
        check: () => this.post(to, { _tag: "Check", ...question })
      }
      yield* Effect.timeoutOrElse(converse(dialog, onReply), {
        duration: WHOLE_WITHIN,
        orElse: () => timedOut(`finish its answer within ${WHOLE_WITHIN / Timestamp.SECOND} s`)
      }).pipe(
        Effect.tapError(() => Effect.sync(() => this.assigned.delete(message.callId))),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            this.answers.delete(turnId)
            if (Exit.isFailure(exit) && !isRefused) this.tellInterrupted(session, message.callId, turnId)
          })
        )
      )
    })
  }

  private tellInterrupted(session: AgentSession, callId: string, turnId: string): void {
    const { serverId, sessionId } = session
    if (this.assigned.get(callId)?.turnId === turnId) this.assigned.set(callId, { session, turnId: undefined })
    this.post(serverId, { _tag: "Interrupt", sessionId, turnId, callId })
  }
}

/** One turn between this server and that of a session. */
interface Dialog {
  /** The next answer. Fails if the turn is refused. */
  readonly next: Effect.Effect<Exclude<TurnAnswer, { readonly _tag: "Refused" }>, SessionLost>
  readonly ask: () => void
  /** Asks whether the session still has the turn. */
  readonly check: () => void
}

/** Asks, and passes the answer on until it is complete. */
const converse = Effect.fnUntraced(function* (
  { ask, check, next }: Dialog,
  onReply: (reply: AgentReply) => void
): Effect.fn.Return<void, AgentUnreachable | SessionLost> {
  const confirmed = Effect.timeoutOrElse(next, {
    duration: ACCEPTED_WITHIN,
    orElse: () => Effect.fail(new SessionLost({ isFull: false }))
  })
  const checked = Effect.andThen(Effect.sync(check), confirmed)
  ask()
  const accepted = yield* confirmed
  const isCheckable = accepted._tag === "Accepted" && accepted.isCheckable === true
  /** Awaits the next reply, and asks a silent server from time to time whether it still runs. */
  const reply = Effect.gen(function* () {
    for (;;) {
      const given = yield* isCheckable
        ? Effect.timeoutOrElse(next, { duration: CONFIRMED_EVERY, orElse: () => checked })
        : next
      if (given._tag === "Reply") return given
    }
  })
  let bytes = 0
  for (let isFirst = true; ; isFirst = false) {
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
    if (given.digits !== undefined) onReply({ _tag: "Press", digits: given.digits })
    if (given.silenceSeconds !== undefined) onReply({ _tag: "AwaitSpeech", seconds: given.silenceSeconds })
    if (given.hangup) onReply({ _tag: "HangUp" })
    if (!given.more || given.hangup) return
  }
})
