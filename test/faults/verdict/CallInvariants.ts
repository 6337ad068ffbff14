import type { Play } from "../../support/PhoneCarrier.ts"
import type { TranscriptFields } from "../../support/PhoneCustomer.ts"
import type { Invariant } from "./Judge.ts"

/** An answer of the agent, word by word, with the time at which each was sent. */
export interface AgentAnswer {
  readonly words: Array<{ readonly text: string; readonly at: number }>
}

/** A finished call, by the records of person, agent, carrier and service. */
export interface CallObservations extends Pick<Play, "heard" | "said" | "endedBy"> {
  /** By the carrier's clock, in milliseconds. */
  readonly answeredAt: number
  readonly endedAt: number
  readonly authorizedSeconds: number
  readonly answers: ReadonlyArray<AgentAnswer>
  readonly transcript: Pick<TranscriptFields, "turns">
  /** When servers ended during the call. */
  readonly breaks: ReadonlyArray<number>
  /** How many lines the person says if the call is long enough. */
  readonly lines: number
}

type CallInvariant = Invariant<CallObservations>

const LATE_MILLIS_MAX = 5_000
const EARLY_MILLIS_MAX = 1_500
/** A growing turn is stored every quarter of a second. In these tests a person hears words as soon as they are sent. */
const UNSTORED_MILLIS_MAX = 1_000

const endsInTime: CallInvariant = function* ({ answeredAt, authorizedSeconds, endedAt, endedBy }) {
  const late = endedAt - answeredAt - authorizedSeconds * 1_000
  if (endedBy !== "agent") yield `it was ended by ${endedBy}, not by the service`
  if (late > LATE_MILLIS_MAX) yield `it was ended ${late} ms after its time`
  if (late < -EARLY_MILLIS_MAX) yield `it was ended ${-late} ms before its time`
}

const turnsOf = ({ turns }: Pick<TranscriptFields, "turns">, wanted: string): ReadonlyArray<string> =>
  turns.filter(({ role }) => role === wanted).map(({ text }) => text)

const withoutRepeats = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.filter((text, index) => text !== texts[index - 1])

/** A person who hears nothing repeats a line. The last line may be lost if the call ends at that moment. */
const callerIsRecorded: CallInvariant = function* ({ lines, said, transcript }) {
  const [spoken, stored] = [withoutRepeats(said), withoutRepeats(turnsOf(transcript, "caller"))]
  const isStored = (some: ReadonlyArray<string>) => JSON.stringify(some) === JSON.stringify(stored)
  if (isStored(spoken) || (spoken.length < lines && isStored(spoken.slice(0, -1)))) return
  yield `the person said ${JSON.stringify(spoken)}, and ${JSON.stringify(stored)} is stored`
}

/** Everything that was heard is a turn, in order. A turn during which a server ended may lack its last words. */
const agentIsRecorded: CallInvariant = function* ({ answers, breaks, heard, transcript }) {
  const stored = turnsOf(transcript, "agent")
  let next = 0
  for (const text of heard) {
    const place = stored.findIndex((turn, index) => index >= next && (text.startsWith(turn) || turn.startsWith(text)))
    if (place < 0) {
      yield `${JSON.stringify(text)} was heard, and is not stored in its place`
      continue
    }
    next = place + 1
    const turn = stored[place]!
    const required = answers.map((answer) => requiredOf(answer, text, breaks)).find((words) => words !== undefined)
    if (turn.length < text.length && !turn.startsWith(required ?? text)) {
      yield `${JSON.stringify(text)} was heard, and only ${JSON.stringify(turn)} is stored`
    }
  }
  const unheard = stored.length - heard.length
  if (unheard > breaks.length) yield `${unheard} turns of the agent are stored that were not heard`
}

/** The part of an answer that must be stored if a server ended during it. */
const requiredOf = ({ words }: AgentAnswer, heard: string, breaks: ReadonlyArray<number>): string | undefined => {
  const [first, last] = [words[0], words.at(-1)]
  if (first === undefined || last === undefined || !heard.startsWith(first.text)) return undefined
  const end = breaks.find((at) => first.at <= at && at <= last.at + UNSTORED_MILLIS_MAX)
  if (end === undefined) return undefined
  const required = words.filter(({ at }) => at < end - UNSTORED_MILLIS_MAX).map(({ text }) => text)
  return required.join("").trimEnd()
}

export const CALL_INVARIANTS = {
  "the service ends a call at its limit": endsInTime,
  "the transcript has everything that the person said": callerIsRecorded,
  "the transcript has everything that the person heard": agentIsRecorded
} as const satisfies Readonly<Record<string, CallInvariant>>
