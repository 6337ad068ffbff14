import { add, SECOND, type Timestamp } from "../kernel/Timestamp.ts"
import { type AgentReply, type AgentUnreachable, CONTEXT_TURNS } from "./AgentCallback.ts"
import * as Playback from "./Playback.ts"
import { nextTurn, type Turn, type TurnRole } from "./Transcript.ts"
import type { RelayCommand, RelayEvent } from "./VoiceRelay.ts"

/** The text that is spoken to the caller if the agent can't be reached. */
export const APOLOGY = "Sorry, I can't answer that right now. Please try again in a moment."

/** The maximum length of a caller's turn, in characters: minutes of speech. */
const CALLER_TURN_MAX = 4_096
/** The maximum length of an agent's answer, in characters. */
const ANSWER_MAX = 16_384
const FAILURE_MAX = 500
/**
 * The interval at which a growing turn is written, in milliseconds. Newer text was sent to the relay, but the caller
 * has not heard it yet.
 */
const WRITE_INTERVAL = 250
/** The longest pause between two keys of one turn, in milliseconds; and the maximum number of keys in a turn. */
const KEY_PAUSE = 1_500
const KEYS_MAX = 64
/** The turns about silence in a row, after which the next silence ends the call. */
const SILENCES_MAX = 3
const SILENCE = "[silence]"
const KEY = /^[0-9A-D*#]$/u
const NEVER = Number.POSITIVE_INFINITY

/** A part of the agent's answer to one question. Exactly one `Completed` or `Failed` ends the answer. */
export type AgentOutput =
  | AgentReply
  | { readonly _tag: "Completed" }
  | { readonly _tag: "Failed"; readonly error: AgentUnreachable }

/** The state of the conversation of one relay, as an immutable value. */
export interface VoiceSession {
  /** The last turns of the transcript, oldest first. Their indexes are those that the session expects. */
  readonly turns: ReadonlyArray<Turn>
  /** The number of the open question to the agent, or of the last one. */
  readonly question: number
  readonly playback: Playback.PlaybackState
  /** The keys that were pressed, and when they become a turn if no further key is pressed. */
  readonly keys: { readonly text: string; readonly due: Timestamp } | null
  /** The text of a growing turn that is not yet written. */
  readonly unwritten: { readonly index: number; readonly text: string } | null
  readonly writtenAt: Timestamp
  /** How long the person may be silent after the answer under way; null if silence is no turn. */
  readonly patienceSeconds: number | null
  /** When the silence of the person becomes a turn. */
  readonly silentAt: Timestamp | null
  /** The turns about silence since the person spoke or pressed a key. */
  readonly silences: number
  /** When the call must end after its agent has hung up; null before. */
  readonly hangUpAt: Timestamp | null
  /** Nothing follows. */
  readonly isOver: boolean
}

/** An input of a session, with its time. Input about any question but the open one is ignored. */
export type Input = { readonly at: Timestamp } & SessionEvent
export type SessionEvent =
  | RelayEvent
  | { readonly _tag: "Answer"; readonly question: number; readonly output: AgentOutput }
  /** A text was sent to the relay. */
  | { readonly _tag: "Sent"; readonly text: string }
  /** A timer may be due. */
  | { readonly _tag: "Tick" }
  /** The relay is gone. */
  | { readonly _tag: "Closed" }
  /** The session is interrupted, by another relay of its call or by the end of its server. */
  | { readonly _tag: "Stopped" }

/** A command of a session. Commands are executed in order, and completed before the next input. */
export type Command =
  | RelayCommand
  | { readonly _tag: "AddTurn"; readonly turn: Turn }
  /** Replaces the text of a turn of this session. */
  | { readonly _tag: "SetTurnText"; readonly index: number; readonly text: string }
  /** Asks the agent about a turn in the background. `context` is the turns before it. */
  | {
      readonly _tag: "Ask"
      readonly question: number
      readonly turn: Turn
      readonly context: ReadonlyArray<Turn>
    }
  /** Cancels the question under way. */
  | { readonly _tag: "Cancel" }
  /** Reports that the caller spoke over the answer. */
  | { readonly _tag: "ReportInterruption" }
  /** Has the carrier end the call soon after `at` if the relay has not ended it by then, even if this server dies. */
  | { readonly _tag: "HangUp"; readonly at: Timestamp }

export type Step = readonly [session: VoiceSession, commands: ReadonlyArray<Command>]

/** A part of a step. The commands of several moves are executed in order. */
type Move = (session: VoiceSession, at: Timestamp) => Step

const sequence =
  (...moves: ReadonlyArray<Move>): Move =>
  (session, at) => {
    let current = session
    const commands = moves.flatMap((move) => {
      const [next, issued] = move(current, at)
      current = next
      return issued
    })
    return [current, commands]
  }
const change =
  (changes: Partial<VoiceSession>, ...commands: ReadonlyArray<Command>): Move =>
  (session) => [{ ...session, ...changes }, commands]
const nothing: Move = change({})
const when = (condition: boolean, move: Move): Move => (condition ? move : nothing)

/** Adds the turn that follows the last one, unless the transcript is full. */
const addTurn =
  (role: TurnRole, text: string): Move =>
  (session, at) => {
    const turn = nextTurn(session.turns.at(-1), role, text, at)
    if (turn === null) return [session, []]
    const turns = [...session.turns, turn].slice(-CONTEXT_TURNS - 1)
    return [{ ...session, turns, writtenAt: at }, [{ _tag: "AddTurn", turn }]]
  }

/** Writes the unwritten text. */
const flush: Move = (session, at) => {
  const { unwritten } = session
  if (unwritten === null) return [session, []]
  return [{ ...session, unwritten: null, writtenAt: at }, [{ _tag: "SetTurnText", ...unwritten }]]
}
const writeDue = ({ unwritten, writtenAt }: VoiceSession): number =>
  unwritten === null ? NEVER : writtenAt + WRITE_INTERVAL
const flushIfDue: Move = (session, at) => when(writeDue(session) <= at, flush)(session, at)

/** Sets the text of a turn. It is written by `flush`. */
const setText =
  (index: number, text: string): Move =>
  (session) => {
    const turns = session.turns.map((turn) => (turn.index === index ? { ...turn, text } : turn))
    return [{ ...session, turns, unwritten: { index, text } }, []]
  }

const cancel: Move = (session) => [{ ...session, question: session.question + 1 }, [{ _tag: "Cancel" }]]

/** Ends the open speech, if there is one. */
const close: Move = (session, at) => {
  if (!session.playback.isOpen) return [session, []]
  const playback = { ...session.playback, isOpen: false }
  return sequence(change({ playback }, { _tag: "Say", text: "", isLast: true }), flush)(session, at)
}

/** Cancels the question under way. The part of the answer that was spoken stays in the transcript. */
const stop = sequence(cancel, close)

/** Asks the agent, unless it has hung up. */
const ask =
  (turn: Turn, context: ReadonlyArray<Turn>): Move =>
  (session) => {
    if (session.hangUpAt !== null) return [session, []]
    const question = session.question + 1
    return [{ ...session, question, patienceSeconds: null, silentAt: null }, [{ _tag: "Ask", question, turn, context }]]
  }

/** The agent is asked before the turn is stored, but nothing of its answer is handled until then. */
const takeTurn =
  (text: string, isAsked: boolean): Move =>
  (session, at) => {
    const turn = nextTurn(session.turns.at(-1), "caller", text, at)
    return sequence(
      change({ playback: { ...session.playback, isAnswered: true } }),
      isAsked && turn?.role === "caller" ? ask(turn, session.turns.slice(-CONTEXT_TURNS)) : nothing,
      addTurn("caller", text)
    )(session, at)
  }

/** Turns the pressed keys into a turn, for example `[pressed 12#]`, and asks the agent about it if `isAsked`. */
const takeKeys =
  (isAsked: boolean): Move =>
  (session, at) =>
    session.keys === null
      ? [session, []]
      : sequence(change({ keys: null }), takeTurn(`[pressed ${session.keys.text}]`, isAsked))(session, at)

const askAboutKeys = sequence(stop, takeKeys(true))

/** `#` ends the turn immediately. A name that is not a telephone key changes nothing. */
const pressed =
  (key: string): Move =>
  (session, at) => {
    if (!KEY.test(key)) return [session, []]
    const text = (session.keys?.text ?? "") + key
    const isComplete = key === "#" || text.length >= KEYS_MAX
    const keys = { text, due: isComplete ? at : add(at, KEY_PAUSE) }
    return sequence(change({ keys, silentAt: null, silences: 0 }), when(isComplete, askAboutKeys))(session, at)
  }

/** An empty text is not a turn. */
const said = (text: string): Move =>
  when(text !== "", sequence(change({ silences: 0 }), stop, takeKeys(false), takeTurn(text, true)))

const speak =
  (speech: Playback.Speech, isLast: boolean): Move =>
  (session, at) => {
    const playback = Playback.started(session.playback, speech, isLast, at)
    return [{ ...session, playback }, [{ _tag: "Say", text: speech.text, isLast }]]
  }

const sayFirst =
  (text: string, isLast: boolean): Move =>
  (session, at) => {
    const turn = nextTurn(session.turns.at(-1), "agent", text, at)
    const spoken = turn?.role === "agent" ? speak({ turnIndex: turn.index, text }, isLast) : stop
    return sequence(addTurn("agent", text), spoken)(session, at)
  }

const sayMore =
  (before: string, turnIndex: number, text: string): Move =>
  (session, at) => {
    const piece = Playback.spokenText(Playback.continued(before, text), ANSWER_MAX - before.length)
    const playback = Playback.extended(session.playback, piece)
    const spoken = sequence(
      change({ playback }, { _tag: "Say", text: piece, isLast: false }),
      setText(turnIndex, before + piece),
      flushIfDue
    )
    const isFull = before.length + piece.length >= ANSWER_MAX
    return sequence(when(piece !== "", spoken), when(isFull, stop))(session, at)
  }

/** Speaks a piece of the agent's answer, but does not start a turn with white space alone. */
const say =
  (text: string, isLast: boolean): Move =>
  (session, at) => {
    const open = session.playback.isOpen ? session.playback.speeches.at(-1) : undefined
    const isMore = open !== undefined && open.turnIndex !== null
    const move = isMore ? sayMore(open.text, open.turnIndex, text) : when(text.trim() !== "", sayFirst(text, isLast))
    return move(session, at)
  }

const apologize = ({ message }: AgentUnreachable): Move =>
  sequence(
    close,
    addTurn("system", `${Playback.spokenText(message, FAILURE_MAX)} The caller heard an apology.`),
    speak({ turnIndex: null, text: APOLOGY }, true)
  )

/** Presses keys after the speech so far. They are a turn of their own, as those of the caller. */
const press = (digits: string): Move =>
  sequence(close, addTurn("agent", `[pressed ${digits}]`), (session, at) => [
    { ...session, playback: Playback.pressed(session.playback, digits, at) },
    [{ _tag: "Press", digits }]
  ])

/**
 * The agent hangs up: the call ends after the estimated time that the text before needs to be spoken. A relay does not
 * wait for the end of speech itself: Twilio's documentation does not say what happens to remaining speech when a
 * session ends, and a session was observed to close within 90 ms (github.com/ivy/thicket, docs/reference.md).
 */
const hangUp = sequence(stop, (session, at) => {
  const hangUpAt = Playback.playbackEnd(session.playback, at)
  return [{ ...session, hangUpAt }, [{ _tag: "HangUp", at: hangUpAt }]]
})

const end = sequence(flush, takeKeys(false), (session, at) => [
  { ...session, isOver: true },
  [{ _tag: "HangUp", at }, { _tag: "End" }]
])

/** The answer is complete: from its last word on, the person may be silent for the time that the agent named. */
const awaitSpeech: Move = (session, at) => {
  const { patienceSeconds } = session
  if (patienceSeconds === null || session.keys !== null) return [session, []]
  const heardAt = Playback.playbackEnd(session.playback, at)
  return [{ ...session, silentAt: add(heardAt, patienceSeconds * SECOND) }, []]
}

/** Asks the agent about the silence of the person, or ends the call if it was asked often enough. */
const silent: Move = (session, at) => {
  if (session.silences >= SILENCES_MAX)
    return sequence(addTurn("system", "The person was silent, so the call was ended."), end)(session, at)
  const counted = change({ silentAt: null, silences: session.silences + 1 })
  return sequence(counted, takeTurn(SILENCE, true))(session, at)
}

const interrupted =
  (heard: string): Move =>
  (session, at) => {
    const cut = Playback.interrupted(session.playback, heard, at)
    if (cut === undefined) return [session, []]
    return sequence(
      // If the agent has not begun to answer the open question, that answer is not the one that was interrupted.
      when(session.playback.isOpen, stop),
      change({ playback: Playback.silent }, { _tag: "ReportInterruption" }),
      ...cut.map(({ text, turnIndex }) => (turnIndex === null ? nothing : sequence(setText(turnIndex, text), flush))),
      when(session.hangUpAt !== null, end)
    )(session, at)
  }

const ticked: Move = (session, at) =>
  sequence(
    flushIfDue,
    when(session.keys !== null && session.keys.due <= at, askAboutKeys),
    when(session.silentAt !== null && session.silentAt <= at && session.hangUpAt === null, silent),
    when(session.hangUpAt !== null && session.hangUpAt <= at, end)
  )(session, at)

/** Writes the unwritten text, and ends the call if its agent has hung up. */
const stopped: Move = (session, at) => {
  const hangUps: ReadonlyArray<Command> = session.hangUpAt === null ? [] : [{ _tag: "HangUp", at }]
  return sequence(flush, change({ isOver: true }, ...hangUps))(session, at)
}

const closed = sequence(cancel, takeKeys(false), stopped)

const answered = (output: AgentOutput): Move => {
  switch (output._tag) {
    case "Say":
      return say(Playback.spokenText(output.text, ANSWER_MAX), false)
    case "Press":
      return press(output.digits)
    case "AwaitSpeech":
      return change({ patienceSeconds: output.seconds })
    case "HangUp":
      return sequence(change({ patienceSeconds: null, silentAt: null }), hangUp)
    case "Completed":
      return sequence(close, awaitSpeech)
    case "Failed":
      return apologize(output.error)
  }
}

const moveOf = (input: Input, session: VoiceSession): Move => {
  switch (input._tag) {
    case "Said":
      return said(Playback.spokenText(input.text, CALLER_TURN_MAX).trim())
    case "Pressed":
      return pressed(input.key.toUpperCase())
    case "Interrupted":
      return interrupted(Playback.spokenText(input.spoken, ANSWER_MAX))
    case "Failed":
      return addTurn("system", `The relay reported: ${Playback.spokenText(input.why, FAILURE_MAX)}`)
    case "Answer":
      return when(input.question === session.question, answered(input.output))
    case "Sent":
      return change({ playback: Playback.sent(session.playback, input.text, input.at) })
    case "Tick":
      return ticked
    case "Closed":
      return closed
    case "Stopped":
      return stopped
  }
}

/**
 * Opens the session of a relay, given the last turns of the call's transcript. Speaks the greeting, or continues where
 * another relay broke off: by asking about a caller's last turn.
 */
export const open = (greeting: string | null, turns: ReadonlyArray<Turn>, at: Timestamp): Step => {
  const session: VoiceSession = {
    turns,
    question: 0,
    playback: Playback.silent,
    keys: null,
    unwritten: null,
    writtenAt: at,
    patienceSeconds: null,
    silentAt: null,
    silences: 0,
    hangUpAt: null,
    isOver: false
  }
  const last = turns.at(-1)
  if (last === undefined) return say(Playback.spokenText(greeting ?? "", ANSWER_MAX), true)(session, at)
  return when(last.role === "caller", ask(last, turns.slice(0, -1)))(session, at)
}

/**
 * Returns the session after an input, and the commands to execute.
 *
 * Each turn of the caller asks the agent a question and cancels the previous one. The answer is spoken as it arrives,
 * until an interruption or the caller's next turn. After the agent has hung up, it is not asked again; the call ends
 * when the text before has been spoken, or is interrupted. A turn is stored before its first piece is spoken.
 */
export const step = (session: VoiceSession, input: Input): Step =>
  session.isOver ? [session, []] : moveOf(input, session)(session, input.at)

/** Returns when the session must get a `Tick`, or infinity if nothing is due. */
export const dueAt = (session: VoiceSession): number =>
  Math.min(writeDue(session), session.keys?.due ?? NEVER, session.silentAt ?? NEVER, session.hangUpAt ?? NEVER)
