/** What no voice can speak and some store can't hold: control characters other than tabs and ends of lines. */
const UNSPEAKABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/gu

/** A text as it can be spoken and stored, whoever has sent it: at most so many characters of it. */
export const spokenText = (text: string, lengthMax: number): string =>
  text.slice(0, lengthMax).toWellFormed().replaceAll(UNSPEAKABLE, "")

/**
 * A piece as it is spoken after what was said before. Pieces go together as they are; only a sentence that ends where the
 * next word begins is set apart from it, so that answers may come a sentence a line.
 */
export const continued = (before: string, piece: string): string =>
  /[.!?…]$/u.test(before) && /^\p{L}/u.test(piece) ? ` ${piece}` : piece

/**
 * As much of a text as was heard of it, going by what a relay says was heard, whose white space may differ. Undefined
 * when that is not how the text begins.
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

/** At some 130 words a minute: voices are faster, so that what was said is over by then. */
const CHARACTER_MILLIS = 80
/** Digits are read one by one, and in these scripts a character is a syllable or more. */
const LONG_CHARACTER_MILLIS = 300
const LONG_CHARACTER = /[\p{Nd}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu

/** For how many milliseconds a text is spoken, at most: an estimate, since no carrier says beforehand. */
export const speechMillis = (text: string): number => {
  const long = text.match(LONG_CHARACTER)?.length ?? 0
  return (text.length - long) * CHARACTER_MILLIS + long * LONG_CHARACTER_MILLIS
}
