/**
 * Returns the end of the part of a text that was heard, given the words that a relay reports, or undefined if the text
 * does not begin with those words. White space may differ. `letters` compares letters and digits alone, whatever their
 * case, width and composition, because a relay may normalize the words that it reports.
 */
const endOfHeard = (text: string, heard: string, compare: "characters" | "letters"): number | undefined => {
  const ignored = compare === "characters" ? /\s/u : /[^\p{L}\p{M}\p{N}]/u
  const shape = (character: string) => (compare === "characters" ? character : lettersOf(character))
  const expected = compare === "characters" ? heard.replaceAll(/\s+/gu, "") : lettersOf(heard)
  let end = 0
  let compared = 0
  let position = 0
  while (compared < expected.length) {
    const character = characterAt(text, position)
    if (character === "") return undefined
    position += character.length
    if (ignored.test(character)) continue
    const wanted = shape(character)
    if (!expected.startsWith(wanted, compared)) return undefined
    compared += wanted.length
    end = position
  }
  return end
}

/** A character with the marks that follow it, bounded. */
const characterAt = (text: string, position: number): string => {
  const first = String.fromCodePoint(text.codePointAt(position) ?? 0)
  if (position >= text.length) return ""
  let end = position + first.length
  while (end < text.length && end - position < MARKS_MAX && /\p{M}/u.test(text.charAt(end))) end += 1
  return text.slice(position, end)
}
const MARKS_MAX = 8

const lettersOf = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "")

/** The marks after the last word that belong to it, such as a full stop or a closing quotation mark. */
const MARKS_AFTER = /^[\p{Pe}\p{Pf}.,!?;:…'"。、！？」』]+/u

/**
 * Returns the part of a text that was heard, given the words that a relay reports. Returns undefined if the text does not
 * begin with those words, whatever their white space, case and punctuation.
 */
export const heardPart = (text: string, heard: string): string | undefined => {
  const exact = endOfHeard(text, heard, "characters")
  if (exact !== undefined) return text.slice(0, exact)
  const end = endOfHeard(text, heard, "letters")
  return end === undefined ? undefined : withMarks(text, end)
}

const withMarks = (text: string, end: number): string =>
  text.slice(0, end + (end === 0 ? 0 : (MARKS_AFTER.exec(text.slice(end, end + MARKS_MAX))?.[0].length ?? 0)))

interface Word {
  readonly letters: string
  readonly end: number
}

/** A character of a script without spaces is a word. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]\p{M}*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}\p{N}])+/gu

const wordsOf = (text: string): ReadonlyArray<Word> =>
  Array.from(text.matchAll(WORD), ({ 0: word, index }) => ({ letters: lettersOf(word), end: index + word.length }))

/** A number of n digits is read as at most this many words a digit: "1,250" as "one thousand two hundred and fifty". */
const WORDS_PER_DIGIT = 2

/**
 * Returns the most probable part of a text that was heard, if the relay reports other words than were sent, such as
 * "twelve" for "12": word by word, where a number takes the words up to the next word of the text.
 */
export const probablyHeardPart = (text: string, heard: string): string => {
  const reported = wordsOf(heard).map(({ letters }) => letters)
  const words = wordsOf(text)
  let used = 0
  let end = 0
  for (const [index, word] of words.entries()) {
    if (used >= reported.length) break
    end = word.end
    used += reported[used] === word.letters ? 1 : readAs(word.letters, words[index + 1]?.letters, reported, used)
  }
  return withMarks(text, end)
}

/** Returns how many reported words, from `used`, a word was read as. */
const readAs = (letters: string, next: string | undefined, reported: ReadonlyArray<string>, used: number): number => {
  const digits = letters.match(/\p{N}/gu)?.length ?? 0
  if (digits === 0) return 1
  const atMost = Math.min(digits * WORDS_PER_DIGIT, reported.length - used)
  for (let count = 1; count < atMost; count++) if (reported[used + count] === next) return count
  return atMost
}
