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

/**
 * Returns the part of a text that was heard, given the words that a relay reports, whose white space may differ.
 * Returns undefined if the text does not begin with those words.
 */
export const heardPart = (text: string, heard: string): string | undefined => {
  let end = 0
  for (const character of heard.replaceAll(/\s+/gu, "")) {
    while (/\s/u.test(text.charAt(end))) end += 1
    if (!text.startsWith(character, end)) return undefined
    end += character.length
  }
  return text.slice(0, end)
}

/** About 130 words a minute: voices are faster, so the speech is over by the estimated time. */
const CHARACTER_MILLIS = 80
/** Digits are read one by one, and a character of these scripts is a syllable or more. */
const LONG_CHARACTER_MILLIS = 300
const LONG_CHARACTER = /[\p{Nd}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu

/** Estimates the longest time a text takes to speak, in milliseconds: no carrier reports this beforehand. */
export const speechMillis = (text: string): number => {
  const long = text.match(LONG_CHARACTER)?.length ?? 0
  return (text.length - long) * CHARACTER_MILLIS + long * LONG_CHARACTER_MILLIS
}
