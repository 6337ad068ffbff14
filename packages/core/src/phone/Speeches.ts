import { Timestamp } from "../kernel/Timestamp.ts"
import { heardPart, speechMillis, spokenText } from "./SpokenText.ts"

/** Of speeches that may be under way at one time, how many are told apart: the last ones. */
const TOLD_APART = 4
/** From handing a text over to its first sound, at most, in milliseconds. */
const SPEECH_START = 1_000
/** How long what is still to be spoken is waited for at most, in milliseconds. */
const GOODBYE_MAX = 60_000

/** Something that was handed over to be spoken. Its turn is null where it is this service's own words. */
export interface Speech {
  readonly turnIndex: number | null
  readonly text: string
}

/** What is being spoken, or was last, as far as anybody knows: only a relay that is interrupted tells. */
export interface Speeches {
  /** Those that may be under way, in order. The last one stays in any case. */
  readonly all: ReadonlyArray<Speech>
  /** More of the last one may come. */
  readonly isOpen: boolean
  /** The caller has had a turn since the last one began. */
  readonly isAnswered: boolean
  /** When all of it has been spoken, by estimate. */
  readonly quietAt: number
}

export const none: Speeches = { all: [], isOpen: false, isAnswered: false, quietAt: 0 }

/** A speech begins; it is spoken after those that are under way. */
export const begun = (self: Speeches, speech: Speech, now: Timestamp): Speeches => ({
  all: [...(isPlaying(self, now) ? self.all : []), speech].slice(-TOLD_APART),
  isOpen: true,
  isAnswered: false,
  quietAt: Math.max(now, self.quietAt) + speechMillis(speech.text)
})

/** The last speech, with another piece. */
export const grown = (self: Speeches, piece: string, now: Timestamp): Speeches => ({
  ...self,
  all: self.all.map((one, index) => (index === self.all.length - 1 ? { ...one, text: one.text + piece } : one)),
  quietAt: Math.max(now, self.quietAt) + speechMillis(piece)
})

/** No more of the last speech comes. */
export const closed = (self: Speeches): Speeches => ({ ...self, isOpen: false })

/** The caller has had a turn. */
export const answered = (self: Speeches): Speeches => ({ ...self, isAnswered: true })

/** When all that was handed over by now has been heard, by estimate: after `GOODBYE_MAX` at the latest. */
export const heardOutAt = ({ quietAt }: Speeches, now: Timestamp): Timestamp =>
  quietAt === 0 ? now : Timestamp.make(Math.min(Math.max(now, Math.ceil(quietAt) + SPEECH_START), now + GOODBYE_MAX))

/**
 * The caller interrupts, and had heard so much by then: what is left of each speech that this cuts; undefined when it
 * cuts none. It is the last speech that begins so; what was to be spoken after it was not heard. Where none begins so,
 * the relay is believed about the last one, though not that more was heard than was said.
 *
 * Nothing is being spoken once the caller has had a turn and there was time to speak it all.
 */
export const interrupted = (self: Speeches, heard: string, now: Timestamp): ReadonlyArray<Speech> | undefined => {
  if (self.all.length === 0 || (self.isAnswered && !self.isOpen && !isPlaying(self, now))) return undefined
  const known = self.all.findLastIndex(({ text }) => heardPart(text, heard) !== undefined)
  const first = known < 0 ? self.all.length - 1 : known
  return self.all.slice(first).map(({ text, turnIndex }, index) => ({
    turnIndex,
    text: index > 0 ? "" : (heardPart(text, heard) ?? spokenText(heard, text.length))
  }))
}

const isPlaying = ({ quietAt }: Speeches, now: Timestamp): boolean => now < quietAt
