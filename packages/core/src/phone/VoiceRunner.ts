import { type Cause, Effect, FiberHandle, Queue, Stream } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { type AgentReply, AgentUnreachable } from "./AgentCallback.ts"
import type { CallStore } from "./CallStore.ts"
import type { Turn } from "./Transcript.ts"
import type { RelayEvent, SendToRelay } from "./VoiceRelay.ts"
import * as VoiceSession from "./VoiceSession.ts"

/** The capacity of the input queue. Producers wait while it is full. */
const INPUTS_MAX = 16
const NEVER = Number.POSITIVE_INFINITY

/** The dependencies of a session. */
export interface VoiceRunnerOptions {
  readonly callId: string
  readonly greeting: string | null
  /** The last turns of the transcript. While the session runs, this server adds no other turns to the call. */
  readonly turns: ReadonlyArray<Turn>
  readonly calls: CallStore["Service"]
  readonly send: SendToRelay
  readonly ask: (turn: Turn, context: ReadonlyArray<Turn>) => Stream.Stream<AgentReply, AgentUnreachable>
  /** Reports that the caller spoke over the answer. */
  readonly interrupted: Effect.Effect<void>
  readonly hangUp: (at: Timestamp.Timestamp) => Effect.Effect<void>
}

/**
 * Runs the session of one relay until `events` ends or the call is ended. Leaves no fiber running, also if it is
 * interrupted.
 *
 * One fiber handles the inputs in order, so that the transcript matches the speech; a second one asks the agent.
 */
export const run = (options: VoiceRunnerOptions, events: Stream.Stream<RelayEvent>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { callId, calls } = options
    const inputs = yield* Queue.bounded<VoiceSession.SessionEvent, Cause.Done>(INPUTS_MAX)
    const question = yield* FiberHandle.make<void>()
    const timer = yield* FiberHandle.make<void>()
    /** When the timer is set to fire. */
    let timerAt = NEVER
    /** The stored index of each turn by its expected one, where another server has added turns meanwhile. */
    const indexes = new Map<number, number>()

    const execute = Effect.fnUntraced(function* (command: VoiceSession.Command): Effect.fn.Return<void> {
      switch (command._tag) {
        case "Say":
          yield* options.send(command)
          return yield* handle({ _tag: "Sent", text: command.text })
        case "Press":
        case "End":
          return yield* options.send(command)
        case "AddTurn": {
          const { index, ...turn } = command.turn
          const added = yield* calls.addTurn(callId, turn)
          if (added.index !== index) indexes.set(index, added.index)
          return
        }
        case "SetTurnText": {
          const index = indexes.get(command.index) ?? command.index
          return yield* Effect.uninterruptible(calls.setTurnText(callId, index, command.text))
        }
        case "Ask": {
          const answer = answerOf(options.ask(command.turn, command.context))
          const offer = (output: VoiceSession.AgentOutput) =>
            Queue.offer(inputs, { _tag: "Answer", question: command.question, output })
          yield* FiberHandle.run(question, Stream.runForEach(answer, offer))
          return
        }
        case "Cancel":
          return yield* FiberHandle.clear(question)
        case "ReportInterruption":
          return yield* options.interrupted
        case "HangUp":
          return yield* options.hangUp(command.at)
      }
    })

    let session: VoiceSession.VoiceSession
    const perform = ([next, commands]: VoiceSession.Step) => {
      session = next
      return Effect.forEach(commands, execute, { discard: true })
    }
    const handle = (event: VoiceSession.SessionEvent): Effect.Effect<void> =>
      Effect.flatMap(Timestamp.now, (at) => perform(VoiceSession.step(session, { ...event, at })))

    const setTimer = Effect.gen(function* () {
      const due = VoiceSession.dueAt(session)
      if (due >= timerAt) return
      timerAt = due
      const wait = Math.max(0, due - (yield* Timestamp.now))
      const tick = Effect.asVoid(Queue.offer(inputs, { _tag: "Tick" }))
      yield* FiberHandle.run(timer, Effect.andThen(Effect.sleep(wait), tick))
    })

    const opened = VoiceSession.open(options.greeting, options.turns, yield* Timestamp.now)
    session = opened[0]
    yield* Effect.forkScoped(Stream.runIntoQueue(events, inputs))
    yield* Effect.gen(function* () {
      yield* perform(opened)
      while (!session.isOver) {
        yield* setTimer
        const event = yield* Queue.take(inputs)
        if (event._tag === "Tick") timerAt = NEVER
        yield* handle(event)
      }
    }).pipe(
      Effect.catchTag("Done", () => handle({ _tag: "Closed" })),
      Effect.ensuring(Effect.suspend(() => handle({ _tag: "Stopped" })))
    )
  }).pipe(Effect.scoped)

/**
 * Returns the answer of an agent. It is asked again once if the first attempt failed before any part of an answer
 * arrived. A failure with the reason `address` is not retried.
 */
const answerOf = (attempt: Stream.Stream<AgentReply, AgentUnreachable>): Stream.Stream<VoiceSession.AgentOutput> =>
  Stream.suspend(() => {
    let hasBegun = false
    const watched = Stream.tap(attempt, () => Effect.sync(() => (hasBegun = true)))
    return watched.pipe(
      Stream.catch((error) => (hasBegun || error.reason === "address" ? Stream.fail(error) : watched)),
      Stream.concat(Stream.succeed<VoiceSession.AgentOutput>({ _tag: "Completed" })),
      Stream.catch((error) => Stream.succeed<VoiceSession.AgentOutput>({ _tag: "Failed", error })),
      Stream.catchCause((cause) =>
        Stream.fromEffect(Effect.as(Effect.logError("Agent request failed", cause), INTERNAL_FAILURE))
      )
    )
  })

const INTERNAL_FAILURE: VoiceSession.AgentOutput = {
  _tag: "Failed",
  error: new AgentUnreachable({
    reason: "connection",
    message: "The agent could not be asked because of an internal error of this service."
  })
}
