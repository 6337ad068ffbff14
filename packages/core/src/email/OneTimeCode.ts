import {
  CODE,
  CONFIRM,
  BEGINS_WITH_VERB,
  ENDS_WITH_VERB,
  ENTER,
  folded,
  MERE_CODE,
  NUMBER,
  ONE_TIME,
  OTHER,
  OTHER_CODE,
  PREPOSITION,
  RESET,
  SECURITY,
  SIGN_IN,
  UNRELATED
} from "./CodeWords.ts"
import { readHtml } from "./LooseHtml.ts"

/** What codes and links are read from: part of the record of a message. */
export interface ReadableMail {
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
}

/** The searched part of a message, in characters. */
const LIMIT = 100_000
/** Addresses of links and of people, and the code after a domain at the end of SMS: their numbers are not codes. */
const ADDRESS =
  /<?\bhttps?:[!-;=?-~]*>?|\bwww\.[!-~]*|(?<![\w.-])(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\/[!-;=?-~]*|(?:(?<![\w.+-])[\w.+-]+)?@[\w.-]+(?: #\w+)?/gi
const SPACED = /(?<!\S)[A-Z\d](?:\s{1,20}[A-Z\d]){3,9}(?!\S)/g
const CANDIDATE =
  /(?<![\w\u00c0-\u052f.,/$€£¥₽₩#&+\u2022〒-]|\d[ :]|\*{3}|(?:EUR|USD|R\$) )(?:[A-Z]{1,2}-(?=\d{5}))?(?:\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|\d\d([ -])\d\d\1\d\d|(?=[A-Z-]*\d|[B-DF-HJ-NP-TV-Z-]{6})(?=[\d-]*[A-Z])[A-Z\d]{3,4}-[A-Z\d]{3,4}|[A-Z]{4}-[A-Z]{4}|(?=[A-Za-z]{0,9}\d)[A-Za-z\d]{4,10}|[B-DF-HJ-NP-TV-Z]{4,10})(?![\w\u00c0-\u052f%€£¥₽円元원年月日]|[.,:/@-]\w| ?(?:[€$%]|EUR|USD|seconds)| \d)/gu
/** A placeholder, such as XXXXXX, a year or date, a name with a number, such as SAVE20 or Office365, or a number with a unit. */
const NAME =
  /^(?:([A-Za-z])\1+|(?:19[5-9]|20[0-3])\d(?:(?:0[1-9]|1[0-2])[0-3]\d)?|[A-Z]*[AEIOU][A-Z]*[AEIOU][A-Z]*\d+|[A-Z]?[a-z]{2,}\d+|[a-z]+[A-Z][a-z]*\d+|\d+[a-z]+|\d+[A-Z]{1,2})$/
/** The end of a sentence or paragraph. */
const SENTENCE_END = /[.!?;]\s|[。।؟]|\n\n/
/** Only the rest of a word, and up to one word more. */
const REST = /^[\p{L}\p{M}]*[^\p{L}\d,]*$/u
const REST_AND_WORD = /^[\p{L}\p{M}]*[^\p{L}\d]*(?:[\p{L}\p{M}]{1,12}[^\p{L}\d]*)?$/u
const LABEL_END = /[:=]\W*$/
const BEFORE = 240
const AFTER = 80
/** A mail with more is not one with a code. */
const CANDIDATES_LIMIT = 100

/** Returns the end of the last match; -1 without one. */
const lastEnd = (words: RegExp, text: string): number => {
  let end = -1
  for (const { 0: word, index } of text.matchAll(words)) end = index + word.length
  return end
}
const has = (text: string, ...lists: ReadonlyArray<RegExp>): boolean => lists.some((words) => text.search(words) >= 0)

/** Returns whether a text ends with the name of another number, such as "order no.". */
const namesOther = (text: string): boolean => {
  const code = lastEnd(CODE, text)
  const other = lastEnd(OTHER, text)
  const number = lastEnd(NUMBER, text)
  return (other > code && REST.test(text.slice(other))) || (number > code && REST_AND_WORD.test(text.slice(number)))
}

/** A line with nothing but what could be a code. */
const LISTED = /^[^\p{L}\d]*(?=[A-Z -]*\d)[A-Z\d][A-Z\d -]{3,11}[^\p{L}\d]*$/u

const rateAlone = (subject: string, before: string, after: string, isNumber: boolean): number => {
  const lines = before
    .split("\n")
    .filter((line) => /[\p{L}\d]/u.test(line))
    .toReversed()
  const [previous = ""] = lines
  const next = after.split("\n").find((line) => /[\p{L}\d]/u.test(line)) ?? ""
  if (LISTED.test(previous) || LISTED.test(next)) return 0
  if (!has(previous, CODE) && namesOther(previous)) return 0
  for (const line of lines.slice(0, 3)) {
    if (has(line, CODE)) return 3
    if (/\d{4}/.test(line)) break
  }
  // The label of another field.
  if (previous.length < 30 && /[\p{L}:]\s*$/u.test(previous) && !has(previous, CONFIRM, RESET, SIGN_IN)) return 0
  if (has(`${subject}\n${before}\n${after}`, CODE)) return 2
  return isNumber && has(`${subject}\n${before}`, CONFIRM, RESET, SIGN_IN) ? 1 : 0
}

const rateInline = (before: string, after: string, isNumber: boolean): number => {
  if (namesOther(before)) return 0
  const begin = lastEnd(CODE, before)
  if (begin >= 0) {
    const between = before.slice(begin).replaceAll(/\([^()]{0,40}\)/g, "")
    const hasNumber = /\d{3}/.test(between)
    if (LABEL_END.test(between) && !hasNumber) return 3
    if (REST_AND_WORD.test(between) && !PREPOSITION.test(between)) return 3
    const isShort = between.length < 30 && !hasNumber && !/\s(?:at|by|for|from|has|in|of|on|to|was)\s/i.test(between)
    if (isShort && has(between, CONFIRM, RESET, SECURITY, SIGN_IN)) return 3
    if (ENDS_WITH_VERB.test(between)) return hasNumber ? (isNumber ? 1 : 0) : 2
  }
  const [first] = after.matchAll(CODE)
  const isNamed = first !== undefined && first.index < 45 && !/\d{3}/.test(after.slice(0, first.index))
  const isFirst = /^[^\p{L}\d]*$|(?:[,:]|\s[-–—])\s*$/u.test(before.replace(/[[【][^\]】]*[\]】]/, ""))
  if (isNamed && BEGINS_WITH_VERB.test(after) && (isFirst || ENTER.test(before))) return 3
  const isEntered =
    (ENTER.test(before) && has(after.slice(0, 30), CONFIRM, RESET, SIGN_IN)) ||
    (/(?:use|enter|type) .*:\s*$/i.test(before) && has(before, CONFIRM, RESET, SIGN_IN))
  return isNumber && isEntered ? 1 : 0
}

/** Returns whether a text that names a code says more than that it is a code. */
const isForOneTime = (text: string): boolean =>
  [...text.matchAll(CODE)].some(([word]) => !MERE_CODE.test(word)) || has(text, ONE_TIME, CONFIRM, RESET, SIGN_IN)

/** Returns the codes of a text with their rates, from 1 (likely) to 3 (named as such). */
const codesOf = (subject: string, text: string): ReadonlyArray<readonly [code: string, rate: number]> => {
  const found: Array<readonly [string, number]> = []
  let count = 0
  for (const { 0: written, index } of text.matchAll(CANDIDATE)) {
    if (++count > CANDIDATES_LIMIT) return []
    const end = index + written.length
    const before = text.slice(Math.max(0, index - BEFORE), index)
    const after = text.slice(end, end + AFTER)
    const code = written.replace(/^[A-Z]{1,2}-(?=\d{5})/, "").replaceAll(/[ -]/g, "")
    const isNumber = /^\d+$/.test(code)
    const around = before.slice(-100) + (isNumber ? after.split("\n\n")[0]! : after)
    if (NAME.test(code) || has(`${subject}\n${around}`, UNRELATED)) continue
    if (!isNumber && after.includes("%")) continue
    const sides = before.slice(before.lastIndexOf("\n") + 1) + after.split("\n")[0]!
    const rate = /[\p{L}\d]/u.test(sides)
      ? rateInline(before.split(SENTENCE_END).at(-1)!, after.split(SENTENCE_END)[0]!, isNumber)
      : rateAlone(subject, before, after, isNumber)
    if (rate > 0 && isForOneTime(`${subject}\n${before}\n${after}`)) found.push([code, rate])
  }
  return found
}

// None is better than a wrong one: a number counts that is named as a code, and two that are as likely as each other do not.
/**
 * Returns the one-time code of a message, without spaces and dashes: 4 to 10 digits, or letters and digits; undefined without
 * exactly one.
 */
export const oneTimeCode = ({ html, subject, text }: ReadableMail): string | undefined => {
  const read = (part: string) =>
    folded(part.slice(0, LIMIT))
      .slice(0, LIMIT)
      .replaceAll(/^>.*$/gm, "")
      .replaceAll(ADDRESS, " ")
      .replaceAll(OTHER_CODE, "number")
      .replaceAll(/(?<=\d)[\u2010-\u2013](?=\d)/g, "-")
      .replaceAll(SPACED, (code) => code.replaceAll(/\s/g, ""))
      .replaceAll(/\t+/g, "\n")
      .replaceAll(/[^\S\n]+/g, " ")
      .replaceAll(/ ?\n ?(?: ?\n ?)+/g, "\n\n")
  const title = read(subject.slice(0, 1_000))
  const titled = codesOf("", title)
  const parts = [() => text ?? "", () => readHtml((html ?? "").slice(0, LIMIT)).text]
  for (const part of parts) {
    const found = [...titled, ...codesOf(title, read(part()))]
    const best = Math.max(...found.map(([, rate]) => rate))
    const codes = new Set(found.filter(([, rate]) => rate === best).map(([code]) => code))
    if (codes.size > 1) return undefined
    for (const code of codes) return code
  }
  return undefined
}
