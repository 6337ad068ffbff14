import { type Cause, Effect, FiberHandle, Queue, type Scope, Stream } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { AgentReply, AgentUnreachable } from "./AgentCallback.ts"
import { exchange, type Told } from "./AgentExchange.ts"
import type { NewTurn } from "./CallStore.ts"
import type { LiveTranscript } from "./LiveTranscript.ts"
import * as PressedKeys from "./PressedKeys.ts"
import * as Speeches from "./Speeches.ts"
import { continued, spokenText } from "./SpokenText.ts"
import type { Turn } from "./Transcript.ts"
import type { Heard, Speak } from "./VoiceRelay.ts"

/** The text that is spoken to the caller if the agent can't be reached. */
export const APOLOGY = "Sorry, I can't answer that right now. Please try again in a moment."

/** The maximum length of a caller's turn, in characters: minutes of speech. */
const SAID_MAX = 4_096
/** The maximum length of an agent's answer, in characters. */
const ANSWER_MAX = 16_384
const FAILURE_MAX = 500
/** The capacity of the input queue. Producers wait while it is full. */
const INPUTS_MAX = 16
const NEVER = Number.POSITIVE_INFINITY

/** The dependencies of a session. */
export interface VoiceSessionOptions {
  readonly greeting: string | null
  readonly transcript: LiveTranscript
  readonly speak: Speak
  readonly ask: (turn: NewTurn, soFar: ReadonlyArray<Turn>) => Stream.Stream<AgentReply, AgentUnreachable>
  /** Has the carrier end the call soon after `at` if the relay has not ended it by then, even if this server dies. */
  readonly hangUp: (at: Timestamp.Timestamp) => Effect.Effect<void>
}

/** An input of a session; inputs are handled one after another. Input about any question but the last is ignored. */
type Input =
  | Heard
  | { readonly _tag: "Told"; readonly question: number; readonly told: Told }
  /** A timer may be due. */
  | { readonly _tag: "Alarm" }

/**
 * The conversation of one relay. A single fiber handles the inputs in order, so that the transcript matches the speech.
 * The agent is called in a second fiber, and both end together.
 *
 * Each turn of the caller starts a question to the agent and cancels the previous one. The answer is spoken as it
 * arrives, until an interruption or the caller's next turn. After the agent has hung up, it is not asked again; the
 * call ends when the text before has been spoken, or is interrupted.
 */
class VoiceSession {
  readonly #options: VoiceSessionOptions
  readonly #inputs: Queue.Queue<Input, Cause.Done>
  readonly #exchange: FiberHandle.FiberHandle<void>
  readonly #alarm: FiberHandle.FiberHandle<void>
  /** When the alarm is set to fire. */
  #alarmAt = NEVER
  /** The number of the open question, or of the last one. */
  #question = 0
  #speeches = Speeches.none
  #keys = PressedKeys.none
  /** When the call must end after its agent has hung up; `NEVER` before. */
  #endDue = NEVER
  #isOver = false

  private constructor(
    options: VoiceSessionOptions,
    inputs: Queue.Queue<Input, Cause.Done>,
    exchange: FiberHandle.FiberHandle<void>,
    alarm: FiberHandle.FiberHandle<void>
  ) {
    this.#options = options
    this.#inputs = inputs
    this.#exchange = exchange
    this.#alarm = alarm
  }

  static readonly make = Effect.fnUntraced(function* (
    options: VoiceSessionOptions,
    inputs: Queue.Queue<Input, Cause.Done>
  ): Effect.fn.Return<VoiceSession, never, Scope.Scope> {
    return new VoiceSession(options, inputs, yield* FiberHandle.make<void>(), yield* FiberHandle.make<void>())
  })

  /**
   * Speaks the greeting, or continues where another relay broke off. Then handles inputs until they end or the call
   * ends.
   */
  readonly run = Effect.gen({ self: this }, function* () {
    yield* this.#begin()
    while (!this.#isOver) {
      yield* this.#setAlarm()
      yield* this.#act(yield* Queue.take(this.#inputs))
    }
  }).pipe(
    // The relay is gone, so nothing more can be spoken. Keys that were pressed are still stored.
    Effect.catchTag("Done", () => Effect.flatMap(this.#stop(), () => this.#takeKeys(false))),
    Effect.ensuring(Effect.suspend(() => this.#settle()))
  )

  /** Writes the unwritten text, and ends the call if its agent has hung up, however the session ends. */
  readonly #settle = Effect.fnUntraced({ self: this }, function* () {
    yield* this.#options.transcript.flush
    if (this.#endDue !== NEVER && !this.#isOver) yield* this.#options.hangUp(yield* Timestamp.now)
  })

  readonly #begin = Effect.fnUntraced({ self: this }, function* () {
    const { greeting, transcript } = this.#options
    const last = transcript.last()
    if (last?.role === "caller") return yield* this.#ask(last, transcript.soFar(last))
    const text = spokenText(greeting ?? "", ANSWER_MAX)
    if (last === undefined) yield* this.#say(text, true)
  })

  #act(input: Input): Effect.Effect<unknown> {
    switch (input._tag) {
      case "Said":
        return this.#said(spokenText(input.text, SAID_MAX).trim())
      case "Pressed":
        return this.#pressed(input.key)
      case "Interrupted":
        return this.#interrupted(spokenText(input.spoken, ANSWER_MAX))
      case "Failed":
        return this.#options.transcript.add("system", `The relay reported: ${spokenText(input.why, FAILURE_MAX)}`)
      case "Told":
        return input.question === this.#question ? this.#told(input.told) : Effect.void
      case "Alarm":
        return this.#lookAtClock()
    }
  }

  #told(told: Told): Effect.Effect<unknown> {
    switch (told._tag) {
      case "Say":
        return this.#say(spokenText(told.text, ANSWER_MAX), false)
      case "HangUp":
        return this.#waitToEnd()
      case "Answered":
        return this.#close()
      case "Unanswered":
        return this.#apologize(told.why)
    }
  }

  /** An empty text is not a turn. */
  readonly #said = Effect.fnUntraced({ self: this }, function* (text: string) {
    if (text === "") return
    yield* this.#stop()
    yield* this.#takeKeys(false)
    yield* this.#takeTurn(text, true)
  })

  readonly #pressed = Effect.fnUntraced({ self: this }, function* (key: string) {
    const now = yield* Timestamp.now
    this.#keys = PressedKeys.pressed(this.#keys, key, now)
    if (this.#keys.due <= now) yield* this.#askOfKeys()
  })

  readonly #askOfKeys = Effect.fnUntraced({ self: this }, function* () {
    yield* this.#stop()
    yield* this.#takeKeys(true)
  })

  /** Turns the pressed keys into a turn, and asks the agent about it if `isAsked`. */
  #takeKeys(isAsked: boolean): Effect.Effect<void> {
    const text = PressedKeys.textOf(this.#keys)
    this.#keys = PressedKeys.none
    return text === undefined ? Effect.void : this.#takeTurn(text, isAsked)
  }

  /** Asks the agent while the turn is being written, but handles nothing of the answer before it is written. */
  readonly #takeTurn = Effect.fnUntraced({ self: this }, function* (text: string, isAsked: boolean) {
    const { transcript } = this.#options
    this.#speeches = Speeches.answered(this.#speeches)
    const turn = yield* transcript.said("caller", text)
    if (isAsked && transcript.hasRoom()) yield* this.#ask(turn, transcript.soFar())
    yield* transcript.store(turn)
  })

  /** Asks the agent, unless it has hung up. */
  readonly #ask = Effect.fnUntraced({ self: this }, function* (turn: NewTurn, soFar: ReadonlyArray<Turn>) {
    if (this.#endDue !== NEVER) return
    const question = ++this.#question
    const answer = exchange(this.#options.ask(turn, soFar))
    yield* FiberHandle.run(
      this.#exchange,
      Stream.runForEach(answer, (told) => Queue.offer(this.#inputs, { _tag: "Told", question, told }))
    )
  })

  /** Cancels the exchange with the agent. The part of the answer that was spoken stays in the transcript. */
  readonly #stop = Effect.fnUntraced({ self: this }, function* () {
    this.#question += 1
    yield* FiberHandle.clear(this.#exchange)
    yield* this.#close()
  })

  /** Speaks a piece of the agent's answer, but does not start a turn with white space alone. */
  readonly #say = Effect.fnUntraced({ self: this }, function* (text: string, isLast: boolean) {
    const open = this.#speeches.isOpen ? this.#speeches.all.at(-1) : undefined
    if (open !== undefined && open.turnIndex !== null) yield* this.#sayMore(open.text, open.turnIndex, text)
    else if (text.trim() !== "") yield* this.#sayFirst(text, isLast)
  })

  /** Stores the turn before its first piece is spoken. */
  readonly #sayFirst = Effect.fnUntraced({ self: this }, function* (text: string, isLast: boolean) {
    const turn = yield* this.#options.transcript.add("agent", text)
    if (turn === undefined) return yield* this.#stop()
    const begun = Speeches.begun(this.#speeches, { turnIndex: turn.index, text }, yield* Timestamp.now)
    this.#speeches = isLast ? Speeches.closed(begun) : begun
    yield* this.#options.speak({ _tag: "Say", text, isLast })
  })

  readonly #sayMore = Effect.fnUntraced({ self: this }, function* (before: string, turnIndex: number, text: string) {
    const piece = spokenText(continued(before, text), ANSWER_MAX - before.length)
    if (piece !== "") {
      this.#speeches = Speeches.grown(this.#speeches, piece, yield* Timestamp.now)
      yield* this.#options.speak({ _tag: "Say", text: piece, isLast: false })
      yield* this.#options.transcript.grow(turnIndex, before + piece)
    }
    if (before.length + piece.length >= ANSWER_MAX) yield* this.#stop()
  })

  /** Ends the open speech, if there is one. */
  readonly #close = Effect.fnUntraced({ self: this }, function* () {
    if (!this.#speeches.isOpen) return
    this.#speeches = Speeches.closed(this.#speeches)
    yield* this.#options.speak({ _tag: "Say", text: "", isLast: true })
    yield* this.#options.transcript.flush
  })

  readonly #apologize = Effect.fnUntraced({ self: this }, function* ({ message }: AgentUnreachable) {
    const { speak, transcript } = this.#options
    yield* this.#close()
    yield* transcript.add("system", `${spokenText(message, FAILURE_MAX)} The caller heard an apology.`)
    const apology: Speeches.Speech = { turnIndex: null, text: APOLOGY }
    this.#speeches = Speeches.closed(Speeches.begun(this.#speeches, apology, yield* Timestamp.now))
    yield* speak({ _tag: "Say", text: APOLOGY, isLast: true })
  })

  readonly #interrupted = Effect.fnUntraced({ self: this }, function* (heard: string) {
    const now = yield* Timestamp.now
    const left = Speeches.interrupted(this.#speeches, heard, now)
    if (left === undefined) return
    // If the agent has not begun to answer the open question, that answer is not the one that was interrupted.
    if (this.#speeches.isOpen) yield* this.#stop()
    this.#speeches = Speeches.none
    yield* Effect.forEach(left, ({ text, turnIndex }) =>
      turnIndex === null ? Effect.void : this.#options.transcript.revise(turnIndex, text)
    )
    if (this.#endDue !== NEVER) yield* this.#end()
  })

  /**
   * Handles a hangup of the agent: the call ends after the estimated time that the text before needs to be spoken. A
   * relay does not wait for the end of speech itself: Twilio's documentation does not say what happens to remaining
   * speech when a session ends, and a session was observed to close within 90 ms (github.com/ivy/thicket,
   * docs/reference.md).
   */
  readonly #waitToEnd = Effect.fnUntraced({ self: this }, function* () {
    yield* this.#stop()
    const due = Speeches.heardOutAt(this.#speeches, yield* Timestamp.now)
    this.#endDue = due
    yield* this.#options.hangUp(due)
  })

  readonly #end = Effect.fnUntraced({ self: this }, function* () {
    yield* this.#takeKeys(false)
    yield* this.#options.hangUp(yield* Timestamp.now)
    this.#isOver = true
    yield* this.#options.speak({ _tag: "End" })
  })

  /** Sets the alarm for the next due time. */
  readonly #setAlarm = Effect.fnUntraced({ self: this }, function* () {
    const due = Math.min(this.#keys.due, this.#endDue, this.#options.transcript.flushDue() ?? NEVER)
    if (due >= this.#alarmAt) return
    this.#alarmAt = due
    const wait = Math.max(0, due - (yield* Timestamp.now))
    const ring = Effect.asVoid(Queue.offer(this.#inputs, { _tag: "Alarm" }))
    yield* FiberHandle.run(this.#alarm, Effect.andThen(Effect.sleep(wait), ring))
  })

  /** Handles all timers that are due. */
  readonly #lookAtClock = Effect.fnUntraced({ self: this }, function* () {
    this.#alarmAt = NEVER
    const now = yield* Timestamp.now
    if ((this.#options.transcript.flushDue() ?? NEVER) <= now) yield* this.#options.transcript.flush
    if (this.#keys.due <= now) yield* this.#askOfKeys()
    if (this.#endDue <= now) yield* this.#end()
  })
}

/**
 * Runs the conversation of one relay until `heard` ends or the call is ended. Leaves no fiber running, also if it is
 * interrupted.
 */
export const run = (options: VoiceSessionOptions, heard: Stream.Stream<Heard>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const inputs = yield* Queue.bounded<Input, Cause.Done>(INPUTS_MAX)
    const session = yield* VoiceSession.make(options, inputs)
    yield* Effect.forkScoped(Stream.runIntoQueue(heard, inputs))
    yield* session.run
  }).pipe(Effect.scoped)
