import { announcesAnswers, hasAnswers } from "./reply/InlineAnswers.ts"
import { introductionAt } from "./reply/Introduction.ts"
import { comparable, isMarked, withoutMarks } from "./reply/Lines.ts"
import { headerAt, isForwardedLine, isOriginalLine, isReplyAboveLine, isReplyAboveMarker } from "./reply/Original.ts"
import { withoutSignature } from "./reply/Signature.ts"

/** Longer texts are not searched for quotes. Replies are a hundredth of it. */
const TEXT_CHARACTERS = 128 * 1024

/** The relation of a mail's text to another mail, as its header states it. */
export interface MailKind {
  /** Whether the mail answers another one. In other mail, lines with `>` are quotes only below "On …, Ada wrote:". */
  readonly isReply: boolean
  /** Whether the mail forwards another one, which then belongs to its text. */
  readonly isForward: boolean
}

const REPLY: MailKind = { isReply: true, isForward: false }

/** Prefixes of subjects, as mail programs of many languages write them. */
const REPLY_PREFIX =
  /^(?:re|aw|antw|antwort|sv|vs|odp|ynt|rif|r|res|atb|vá|ответ|отв|відп|απ|回复|答复|回覆|返信|회신|답장|رد|תגובה|השב|trả lời|bls)\s?(?:\[\d{1,3}\]|\(\d{1,3}\))?\s?[:：]/iu
const FORWARD_PREFIX =
  /^(?:fwd?|wg|tr|rv|enc|i|vb|vl|pd|ilt|İLT|doorst|videresend|továbbítás|redir\.?|переслано|пересл|πρθ|προώθ|转发|轉寄|転送|전달|إعادة توجيه|הועבר|chuyển tiếp|trs)\s?[:：]/iu

/** Returns the kind of a mail by its subject, and by In-Reply-To or References. */
export const mailKindOf = (subject: string, answered: string | undefined): MailKind => {
  const start = subject.slice(0, SUBJECT_CHARACTERS).trimStart()
  return {
    isReply: answered !== undefined || REPLY_PREFIX.test(start),
    isForward: FORWARD_PREFIX.test(start)
  }
}

const SUBJECT_CHARACTERS = 100

/**
 * Returns the part of a text that its author wrote, without quotes and signature; null if nothing is left, or if the
 * text is too long. Words stay where it is not certain that they are quoted, and so does a forwarded message. Every line
 * is read a bounded number of times, whatever is in it.
 */
export const extractReply = (text: string | null, kind: MailKind = REPLY): string | null => {
  if (text === null || text.length > TEXT_CHARACTERS) return null
  const raw = withoutMarker(text.split(/\r?\n/))
  if (kind.isForward) return joined(raw) || null
  const body = readBody(raw)
  const quotation = findQuotation(body)
  const isQuoted = quotedLines(body, quotation, kind)
  const parts: Array<Array<string>> = [[]]
  for (let at = 0; at < quotation.end; at++) {
    if (!isQuoted[at]) parts.at(-1)!.push(raw[at]!)
    else if (parts.at(-1)!.length > 0) parts.push([])
  }
  const written = parts.map((part, at) =>
    quotation.isKept && at === parts.length - 1 ? part.concat(raw.slice(quotation.end)) : withoutSignature(part)
  )
  return (
    written
      .map(joined)
      .filter((part) => part !== "")
      .join("\n") || null
  )
}

/** Removes the line of a ticket system above its mail, which tells where to reply. Alone, it stays. */
const withoutMarker = (raw: ReadonlyArray<string>): ReadonlyArray<string> => {
  const first = raw.findIndex((line) => comparable(line) !== "")
  const rest = raw.slice(first + 1)
  const isMarker = first >= 0 && isReplyAboveMarker(comparable(raw[first]!))
  return isMarker && rest.some((line) => line.trim() !== "") ? rest : raw
}

const joined = (lines: ReadonlyArray<string>): string =>
  lines
    .map((line) => line.trimEnd())
    .join("\n")
    .trim()

interface Body {
  /** The lines as they are compared. */
  readonly lines: ReadonlyArray<string>
  readonly marked: ReadonlyArray<boolean>
  /** The lines without quote marks. */
  readonly bare: ReadonlyArray<string>
  /** For each line, the next one that is not empty. */
  readonly nextText: ReadonlyArray<number>
}

const readBody = (raw: ReadonlyArray<string>): Body => {
  const lines = raw.map(comparable)
  const marked = raw.map(isMarked)
  const nextText: Array<number> = []
  for (let at = raw.length - 1, next = raw.length; at >= 0; at--) {
    if (lines[at] !== "") next = at
    nextText[at] = next
  }
  return { lines, marked, bare: lines.map((line, at) => (marked[at] ? withoutMarks(line) : line)), nextText }
}

interface Quotation {
  /** The line from which on all is quoted, or all is kept. */
  readonly end: number
  /** Whether the lines from `end` on belong to the text: a forwarded message, or answers that have no marks. */
  readonly isKept: boolean
  /** Lines that introduce quotes. */
  readonly introductions: ReadonlySet<number>
  /** The first of them, or else the number of lines. */
  readonly first: number
}

const findQuotation = (body: Body): Quotation => {
  const { bare, lines, marked } = body
  const introductions = new Set<number>()
  let first = lines.length
  const introduce = (from: number, to: number): void => {
    first = Math.min(first, from)
    for (let at = from; at < to; at++) if (!marked[at]) introductions.add(at)
  }
  const cut = (end: number, isSeparated: boolean): Quotation => {
    const own = ownLines(body, end, introductions, first)
    return { end, isKept: isDoubtful(own, lines.slice(end), isSeparated), introductions, first }
  }

  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    if (line === "") continue
    const next = nextTextOf(body, at + 1)
    // Apple Mail marks forwarded text.
    if (isForwardedLine(bare[at]!) && at < first) return { end: at, isKept: true, introductions, first }
    if (marked[at]) {
      // Apple Mail marks its introduction too.
      const count = introductionAt(bare, at, true)
      if (count > 0) introduce(at - count + 1, at + 1)
      continue
    }
    if (isForwardedLine(line)) return { end: at, isKept: true, introductions, first }
    if (isReplyAboveLine(line) && ownLines(body, at, introductions, first).length > 0) return cut(at, true)
    const isOriginal = isOriginalLine(line)
    const start = isOriginal ? next : at
    const header = start < lines.length && !marked[start] ? headerAt(lines, start) : 0
    if (isOriginal || header > 0) {
      const quoted = nextTextOf(body, start + header)
      if (marked[quoted]) {
        introduce(at, start + header)
        at = start + header - 1
      } else if (header > 0 || !isIntroduced(body, quoted)) return cut(at, isOriginal || isRule(lastText(lines, at)))
      else introduce(at, at + 1)
      continue
    }
    const count = introductionAt(lines, at, marked[next] === true)
    if (count === 0) continue
    if (!marked[next]) return cut(at - count + 1, true)
    introduce(at - count + 1, at + 1)
  }
  return { end: lines.length, isKept: false, introductions, first }
}

const nextTextOf = ({ lines, nextText }: Body, at: number): number => nextText[at] ?? lines.length

/** Whether one of the lines from `at` on introduces a quote with marks. */
const isIntroduced = (body: Body, at: number): boolean =>
  [0, 1, 2, 3].some((more) => {
    const last = at + more
    return (
      last < body.lines.length && body.marked[nextTextOf(body, last + 1)] && introductionAt(body.lines, last, true) > 0
    )
  })

/** A line as Outlook draws it above a header. Alone, it is text. */
const isRule = (line: string): boolean => /^[_=*-]{5,80}$/.test(line)

const lastText = (lines: ReadonlyArray<string>, end: number): string => {
  let at = end - 1
  while (at >= end - RULE_DISTANCE && lines[at] === "") at--
  return lines[at] ?? ""
}

/** How many empty lines may be between a rule and a header. */
const RULE_DISTANCE = 4

/** Returns the lines before `end` that are words of the author, as far as it is known there. */
const ownLines = (
  { lines, marked }: Body,
  end: number,
  introductions: ReadonlySet<number>,
  first: number
): ReadonlyArray<string> =>
  withoutSignature(
    lines
      .slice(0, end)
      .filter((line, at) => line !== "" && !isRule(line) && !introductions.has(at) && !(marked[at] && at > first))
  )

/** A greeting alone is not an answer, so the answer is below it. */
const isGreeting = (line: string): boolean => line.length <= 40 && /[,،，、]$/.test(line)

/** Whether a quotation without marks can contain words of the author, or is shown by the author. */
const isDoubtful = (own: ReadonlyArray<string>, quoted: ReadonlyArray<string>, isSeparated: boolean): boolean =>
  own.length === 0 ||
  (own.length === 1 && isGreeting(own[0]!)) ||
  (!isSeparated && /[:：]$/.test(own.at(-1)!)) ||
  announcesAnswers(own) ||
  hasAnswers(quoted)

/** For each line before the end: whether it is quoted, or introduces a quote. */
const quotedLines = (body: Body, quotation: Quotation, { isReply }: MailKind): ReadonlyArray<boolean> => {
  const { lines, marked } = body
  const { end, first, introductions } = quotation
  const beginsWithQuote = marked[nextTextOf(body, 0)] === true
  const isAlone = first === lines.length && end === lines.length
  const quoted: Array<boolean> = []
  let isQuote = false
  let above = ""
  for (let at = 0; at < end; at++) {
    if (!marked[at]) {
      quoted.push(introductions.has(at))
      if (lines[at] !== "") above = lines[at]!
      continue
    }
    // A run of marked lines is judged as a whole. "Run this:" shows the author's own lines.
    if (!marked[at - 1])
      isQuote = at >= first || (isReply && beginsWithQuote) || (isReply && isAlone && !/[:：]$|^</.test(above))
    quoted.push(isQuote || at >= first)
  }
  // The rule that Outlook draws above a header belongs to it.
  if (end < lines.length && !quotation.isKept) {
    for (let at = end - 1; at >= 0 && at >= end - RULE_DISTANCE; at--) {
      if (isRule(lines[at]!)) quoted[at] = true
      else if (lines[at] !== "") break
    }
  }
  return quoted
}
