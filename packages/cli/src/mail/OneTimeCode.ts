/** Words beside which a code stands, in the languages that most such mail is written in. */
const WORD =
  /(?<!\p{L})(?:codes?|otp|passcode|password|passwort|pin|token|verification|verify|confirm|confirmation|security|one-time|login|sign-in|c[oó]digo|clave|kod|\p{L}*code)(?!\p{L})/giu
/** 4 to 10 digits or capitals with at least one digit; also 123 456, 123-456 and G-123456. Nothing that goes on like an amount, a date or a telephone number. */
const CODE =
  /(?<![\p{L}\d.,:/$€£#@-]|\d )(?:[A-Z]{1,3}-)?(?:\d{3}[ -]\d{3}|(?=[A-Z]*\d)[A-Z0-9]{4,10})(?![\p{L}\d]|[ .,:/-]\d)/gu
const ALONE = /^[ \t]*(?:\d{4,8}|\d{3}[ -]\d{3})[ \t]*$/gmu
/** How far from its word a code may stand, in characters. */
const AFTER = 80
const BEFORE = 40
/** How much of a message is looked through, in characters. */
const LIMIT = 100_000

const TAG = /<(\/?[a-z][a-z0-9]*|!)?[^<>]*>/gi
/** Elements whose content is not shown, each with the tags that end it. */
const HIDDEN: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["style", ["/style"]],
  ["script", ["/script"]],
  ["head", ["/head", "body"]]
])
const LINE_END = /^(?:br|\/(?:p|div|tr|td|h[1-6]))$/

/** What a reader sees of HTML, roughly. One pass, because a stranger wrote it: time grows with its length alone. */
const textOfHtml = (html: string): string => {
  const parts: Array<string> = []
  let begin = 0
  let ends: ReadonlyArray<string> | undefined
  for (const { 0: tag, 1: name = "", index } of html.matchAll(TAG)) {
    const element = name.toLowerCase()
    if (ends === undefined) {
      parts.push(html.slice(begin, index))
      if (LINE_END.test(element)) parts.push("\n")
      ends = HIDDEN.get(element)
    } else if (ends.includes(element)) {
      ends = undefined
      parts.push(" ")
    }
    begin = index + tag.length
  }
  if (ends === undefined) parts.push(html.slice(begin))
  return parts.join("").replaceAll(/&nbsp;|&#160;/gi, " ")
}

/** Without the space or dash that only makes it easier to read; the letters of G-123456 belong to it no more than the dash. */
const bare = (code: string): string => code.replace(/^[A-Z]{1,3}-/, "").replaceAll(/[ -]/g, "")

/** The code nearest after a word, else nearest before one. */
const besideWord = (text: string): string | undefined => {
  const words = [...text.matchAll(WORD)].map(({ 0: word, index }) => ({ begin: index, end: index + word.length }))
  const codes = [...text.matchAll(CODE)].map(({ 0: code, index }) => ({ code, begin: index, end: index + code.length }))
  const after = codes.find(({ begin }) => words.some(({ end }) => end <= begin && begin - end <= AFTER))
  const before = codes.find(({ end }) => words.some(({ begin }) => end <= begin && begin - end <= BEFORE))
  const found = after ?? before
  return found && bare(found.code)
}

/**
 * The one-time code of a message, without spaces and dashes: the first that stands a little after a word such as "code", "PIN" or
 * "verification", else a little before one, else digits alone on a line. The subject is looked at first, then the text,
 * then the HTML. Undefined where there is none.
 */
export const oneTimeCode = (message: {
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
}): string | undefined => {
  const { html, subject, text } = message
  const parts = [subject, (text ?? "").slice(0, LIMIT), textOfHtml((html ?? "").slice(0, LIMIT))]
  for (const part of parts) {
    const code = besideWord(part)
    if (code !== undefined) return code
  }
  for (const part of parts.slice(1)) {
    const [alone] = part.match(ALONE) ?? []
    if (alone !== undefined) return bare(alone.trim())
  }
  return undefined
}
