import { Timestamp } from "../kernel/Timestamp.ts"
import { heardPart, probablyHeardPart } from "./HeardText.ts"

/** The maximum number of speeches that are tracked: the last ones. */
const TRACKED_MAX = 4
/** The longest time from sending a text to its first sound, in milliseconds. */
const START_MILLIS = 1_000

/** Characters that no voice can speak and some stores can't hold: control characters except tabs and line breaks. */
const UNSPEAKABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/gu

/** Makes any text safe to speak and to store, and cuts it to `lengthMax` characters. */
export const spokenText = (text: string, lengthMax: number): string =>
  text.slice(0, lengthMax).toWellFormed().replaceAll(UNSPEAKABLE, "")

/**
 * Returns a piece as it is spoken after `before`. Pieces are joined unchanged, but for a space between a sentence and a
 * next piece that begins with a letter: an agent may send one sentence per line.
 */
export const continued = (before: string, piece: string): string =>
  /[.!?…]$/u.test(before) && /^\p{L}/u.test(piece) ? ` ${piece}` : piece

/** About 130 words a minute: voices are faster, so the speech is over by the estimated time. */
const CHARACTER_MILLIS = 80
/**
 * Digits, symbols and the letters of an abbreviation are read one by one, and a character of these scripts is a syllable
 * or more.
 */
const LONG_CHARACTER_MILLIS = 300
const LONG_CHARACTER =
  /[\p{Nd}\p{S}@#%&*/\\_\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|\p{Lu}(?=\p{Lu})|(?<=\p{Lu})\p{Lu}/gu

/** Estimates the longest time a text takes to speak, in milliseconds: no carrier reports this beforehand. */
export const speechMillis = (text: string): number => {
  const long = text.match(LONG_CHARACTER)?.length ?? 0
  return (text.length - long) * CHARACTER_MILLIS + long * LONG_CHARACTER_MILLIS
}

/** A text that is spoken to the caller. `turnIndex` is null if the text is this service's own and not the agent's. */
export interface Speech {
  readonly turnIndex: number | null
  readonly text: string
}

/** The estimated state of the playback: a relay reports how much was heard only if it is interrupted. */
export interface PlaybackState {
  /** The speeches that may still be playing, in order. The last one is always kept. */
  readonly speeches: ReadonlyArray<Speech>
  /** Whether the last speech may get more text. */
  readonly isOpen: boolean
  /** Whether the caller has had a turn since the last speech began. */
  readonly isAnswered: boolean
  /** The estimated end of the playback; 0 if nothing was sent to the relay. */
  readonly endsAt: number
}

export const silent: PlaybackState = { speeches: [], isOpen: false, isAnswered: false, endsAt: 0 }

/** Adds a speech, which is played after those that are still playing. */
export const started = (self: PlaybackState, speech: Speech, isLast: boolean, now: Timestamp): PlaybackState => ({
  ...self,
  speeches: [...(isPlaying(self, now) ? self.speeches : []), speech].slice(-TRACKED_MAX),
  isOpen: !isLast,
  isAnswered: false
})

/** Appends a piece to the last speech. */
export const extended = (self: PlaybackState, piece: string): PlaybackState => ({
  ...self,
  speeches: self.speeches.map((one, index) =>
    index === self.speeches.length - 1 ? { ...one, text: one.text + piece } : one
  )
})

/** Records that a piece was sent to the relay, which plays it after the pieces before. */
export const sent = (self: PlaybackState, piece: string, now: Timestamp): PlaybackState =>
  piece === "" ? self : { ...self, endsAt: Math.max(now, self.endsAt) + speechMillis(piece) }

/** The longest time that a key or a pause between keys takes, in milliseconds. */
const KEY_MILLIS = 500

/** Records that keys are pressed after the pieces before. */
export const pressed = (self: PlaybackState, digits: string, now: Timestamp): PlaybackState => ({
  ...self,
  endsAt: Math.max(now, self.endsAt) + digits.length * KEY_MILLIS
})

/** Returns when all text sent so far has been heard, by estimate. The limit of the call may end it before. */
export const playbackEnd = ({ endsAt }: PlaybackState, now: Timestamp): Timestamp =>
  endsAt === 0 ? now : Timestamp.make(Math.max(now, Math.ceil(endsAt) + START_MILLIS))

/**
 * Records that the caller interrupted after hearing `heard`. Returns the remaining text of each speech that this cuts,
 * or undefined if it cuts none. The interrupted speech is the last one that begins with `heard`, or the last one after
 * which `heard` continues in the next; later speeches were not heard. If none begins so, `heard` is compared with the
 * last speech word by word: the remaining text is always the beginning of the sent text.
 *
 * Nothing is being spoken once the caller has had a turn and there was enough time to speak all of it.
 */
export const interrupted = (self: PlaybackState, heard: string, now: Timestamp): ReadonlyArray<Speech> | undefined => {
  const { speeches } = self
  if (speeches.length === 0 || (self.isAnswered && !self.isOpen && !isPlaying(self, now))) return undefined
  for (let first = speeches.length - 1; first >= 0; first--) {
    const cut = cutTo(speeches.slice(first), heard)
    if (cut !== undefined) return cut
  }
  return speeches.slice(-1).map(({ text, turnIndex }) => ({ turnIndex, text: probablyHeardPart(text, heard) }))
}

/** Cuts speeches, played one after another, to the heard text; undefined if they do not begin with it. */
const cutTo = (speeches: ReadonlyArray<Speech>, heard: string): ReadonlyArray<Speech> | undefined => {
  const part = heardPart(speeches.map(({ text }) => text).join(" "), heard)
  if (part === undefined) return undefined
  let start = 0
  return speeches.map(({ text, turnIndex }) => {
    const rest = part.slice(start)
    start += text.length + 1
    return { turnIndex, text: rest.slice(0, text.length) }
  })
}

const isPlaying = ({ endsAt }: PlaybackState, now: Timestamp): boolean => now < endsAt
