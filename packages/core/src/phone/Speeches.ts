import { Timestamp } from "../kernel/Timestamp.ts"
import { heardPart, speechMillis, spokenText } from "./SpokenText.ts"

/** The maximum number of concurrent speeches that are tracked: the last ones. */
const TOLD_APART = 4
/** The longest time from handing over a text to its first sound, in milliseconds. */
const SPEECH_START = 1_000
/** The longest wait for the remaining speech, in milliseconds. */
const GOODBYE_MAX = 60_000

/** A text that was handed to the relay. `turnIndex` is null if the text is this service's own and not the agent's. */
export interface Speech {
  readonly turnIndex: number | null
  readonly text: string
}

/** The estimated playback state: only a relay that is interrupted reports how much was heard. */
export interface Speeches {
  /** The speeches that may still be playing, in order. The last one is always kept. */
  readonly all: ReadonlyArray<Speech>
  /** More text of the last speech may follow. */
  readonly isOpen: boolean
  /** The caller has had a turn since the last speech began. */
  readonly isAnswered: boolean
  /** The estimated time when all of it has been spoken. */
  readonly quietAt: number
}

export const none: Speeches = { all: [], isOpen: false, isAnswered: false, quietAt: 0 }

/** Adds a speech, which is spoken after those that are still playing. */
export const begun = (self: Speeches, speech: Speech, now: Timestamp): Speeches => ({
  all: [...(isPlaying(self, now) ? self.all : []), speech].slice(-TOLD_APART),
  isOpen: true,
  isAnswered: false,
  quietAt: Math.max(now, self.quietAt) + speechMillis(speech.text)
})

/** Appends a piece to the last speech. */
export const grown = (self: Speeches, piece: string, now: Timestamp): Speeches => ({
  ...self,
  all: self.all.map((one, index) => (index === self.all.length - 1 ? { ...one, text: one.text + piece } : one)),
  quietAt: Math.max(now, self.quietAt) + speechMillis(piece)
})

/** Marks the last speech as complete. */
export const closed = (self: Speeches): Speeches => ({ ...self, isOpen: false })

/** Records a turn of the caller. */
export const answered = (self: Speeches): Speeches => ({ ...self, isAnswered: true })

/** Returns the estimated time when all text handed over so far has been heard: `GOODBYE_MAX` from now at the latest. */
export const heardOutAt = ({ quietAt }: Speeches, now: Timestamp): Timestamp =>
  quietAt === 0 ? now : Timestamp.make(Math.min(Math.max(now, Math.ceil(quietAt) + SPEECH_START), now + GOODBYE_MAX))

/**
 * Records that the caller interrupted after hearing `heard`. Returns the remaining text of each speech that this cuts,
 * or undefined if it cuts none. The interrupted speech is the last one that begins with `heard`; later speeches were
 * not heard. If no speech begins so, `heard` is taken as the heard part of the last speech, at most as long as that
 * speech.
 *
 * Nothing is being spoken once the caller has had a turn and there was enough time to speak all of it.
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
