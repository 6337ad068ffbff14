import type { Play } from "../support/PhoneCarrier.ts"
import type { TranscriptFields } from "../support/PhoneCustomer.ts"
import type { GivenAnswer } from "./SlowAgent.ts"

/** What is known of a call that is over: by the person, by the agent, by the carrier, and by the service. */
export interface SeenCall {
  readonly name: string
  readonly heard: Play["heard"]
  readonly said: Play["said"]
  readonly endedBy: Play["endedBy"]
  /** By the carrier's clock, in milliseconds. */
  readonly answeredAt: number
  readonly endedAt: number
  readonly authorizedSeconds: number
  readonly answers: ReadonlyArray<GivenAnswer>
  readonly transcript: TranscriptFields
}

/** A call is ended by its time no later than this. */
const LATE_MILLIS_MAX = 5_000
const EARLY_MILLIS_MAX = 1_500
/**
 * A turn that grows is written every quarter of a second. What was handed over so short a time before a crash may not
 * be written, and has not been heard by anybody whose speech takes time; here it is heard as soon as it is handed over.
 */
const UNWRITTEN_MILLIS_MAX = 1_000

/**
 * What is wrong with how a call ended, and with its transcript; `breaks` are the moments at which servers ended, and
 * `lines` is how much she has to say.
 */
export const judge = (call: SeenCall, breaks: ReadonlyArray<number>, lines: number): ReadonlyArray<string> =>
  [...timeFaults(call), ...callerFaults(call, lines), ...agentFaults(call, breaks)].map(
    (fault) => `${call.name}: ${fault}`
  )

const timeFaults = ({ answeredAt, authorizedSeconds, endedAt, endedBy }: SeenCall): ReadonlyArray<string> => {
  const late = endedAt - answeredAt - authorizedSeconds * 1_000
  return [
    ...(endedBy === "agent" ? [] : [`it was ended by ${endedBy}, not by the service`]),
    ...(late > LATE_MILLIS_MAX ? [`it was ended ${late} ms after its time`] : []),
    ...(late < -EARLY_MILLIS_MAX ? [`it was ended ${-late} ms before its time`] : [])
  ]
}

/**
 * Somebody who hears nothing says a line again, and may or may not have been heard the first time. What she says as the
 * call is being ended may be lost: who has not said it all by then may have said something just then.
 */
const callerFaults = ({ said, transcript }: SeenCall, lines: number): ReadonlyArray<string> => {
  const written = transcript.turns.filter(({ role }) => role === "caller").map(({ text }) => text)
  const [spoken, kept] = [withoutRepeats(said), withoutRepeats(written)]
  const isTheSame = (some: ReadonlyArray<string>) => JSON.stringify(some) === JSON.stringify(kept)
  return isTheSame(spoken) || (spoken.length < lines && isTheSame(spoken.slice(0, -1)))
    ? []
    : [`she said ${JSON.stringify(spoken)}, and ${JSON.stringify(kept)} is written`]
}

const withoutRepeats = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.filter((text, index) => text !== texts[index - 1])

/** Each thing that was heard is a turn, in order. Of one in which a server ended, its last words may be missing. */
const agentFaults = (
  { answers, heard, transcript }: SeenCall,
  breaks: ReadonlyArray<number>
): ReadonlyArray<string> => {
  const written = transcript.turns.filter(({ role }) => role === "agent").map(({ text }) => text)
  const faults: Array<string> = []
  let next = 0
  for (const text of heard) {
    const place = written.findIndex((turn, index) => index >= next && isOf(turn, text))
    if (place < 0) {
      faults.push(`she heard ${JSON.stringify(text)}, which is not written where it belongs`)
      continue
    }
    next = place + 1
    const turn = written[place]!
    const owed = answers.map((answer) => owedOf(answer, text, breaks)).find((words) => words !== undefined)
    if (turn.length < text.length && !turn.startsWith(owed ?? text)) {
      faults.push(`she heard ${JSON.stringify(text)}, of which only ${JSON.stringify(turn)} is written`)
    }
  }
  const unheard = written.length - heard.length
  if (unheard > breaks.length) faults.push(`${unheard} turns of the agent's are written that she did not hear`)
  return faults
}

const isOf = (turn: string, heard: string): boolean => heard.startsWith(turn) || turn.startsWith(heard)

/** What of an answer has to be written that was heard until a server ended; undefined where it was not cut by an end. */
const owedOf = ({ words }: GivenAnswer, heard: string, breaks: ReadonlyArray<number>): string | undefined => {
  const [first, last] = [words[0], words.at(-1)]
  if (first === undefined || last === undefined || !heard.startsWith(first.text)) return undefined
  const cut = breaks.find((at) => first.at <= at && at <= last.at + UNWRITTEN_MILLIS_MAX)
  if (cut === undefined) return undefined
  const owed = words.filter(({ at }) => at < cut - UNWRITTEN_MILLIS_MAX).map(({ text }) => text)
  return owed.join("").trimEnd()
}
