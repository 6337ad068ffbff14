/** Words that announce a code, in the languages of most such mail. */
const WORD =
  /(?<!\p{L})(?:codes?|otp|passcode|password|passwort|pin|token|verification|verify|confirm|confirmation|security|one-time|login|sign-in|c[oó]digo|clave|kod|\p{L}*code)(?!\p{L})/giu
/**
 * 4 to 10 digits or capital letters with at least one digit, also 123 456, 123-456 and G-123456. Amounts, dates and
 * phone numbers do not match.
 */
const CODE =
  /(?<![\p{L}\d.,:/$€£#@-]|\d )(?:[A-Z]{1,3}-)?(?:\d{3}[ -]\d{3}|(?=[A-Z]*\d)[A-Z0-9]{4,10})(?![\p{L}\d]|[ .,:/-]\d)/gu
const ALONE = /^[ \t]*(?:\d{4,8}|\d{3}[ -]\d{3})[ \t]*$/gmu
/** The maximum distance of a code after and before its word, in characters. */
const AFTER = 80
const BEFORE = 40
/** The address of a link, whose numbers are not codes. */
const LINK = /<https?:[^<>\s]*>/g
/** The searched part of a message, in characters. */
const LIMIT = 100_000

/** The converted part of HTML, in characters: the most that the service keeps of a mail. */
const HTML_LIMIT = 1 << 20
const ELEMENT = /^(?:\/?[a-z][a-z0-9]*|!)/i
/** Elements whose content is hidden. */
const HIDDEN = /^(?:style|script|head)$/
const LINE_END = /^(?:br|\/(?:p|div|tr|td|h[1-6]))$/

/** Extracts the visible text of HTML, roughly, in linear time. The service derives the text of mail without one. */
export const textOfHtml = (html: string): string => {
  const [first = "", ...pieces] = html.slice(0, HTML_LIMIT).split("<")
  const parts = [first]
  let hidden = ""
  for (const piece of pieces) {
    const close = piece.indexOf(">")
    const element = close < 0 ? "" : (ELEMENT.exec(piece)?.[0] ?? "").toLowerCase()
    if (hidden === "") {
      if (LINE_END.test(element)) parts.push("\n")
      if (HIDDEN.test(element)) hidden = element
    } else if (element === `/${hidden}` || (element === "body" && hidden === "head")) {
      hidden = ""
      parts.push(" ")
    }
    if (hidden === "") parts.push(close < 0 ? `<${piece}` : piece.slice(close + 1))
  }
  return parts.join("").replaceAll(/&nbsp;|&#160;/gi, " ")
}

/** Removes spaces, dashes and a prefix such as G-. */
const bare = (code: string): string => code.replace(/^[A-Z]{1,3}-/, "").replaceAll(/[ -]/g, "")

/** Returns the first code after a word, else the first before one. */
const besideWord = (text: string): string | undefined => {
  const words = [...text.matchAll(WORD)].map(({ 0: word, index }) => ({ begin: index, end: index + word.length }))
  let ended = 0
  let begun = 0
  let before: string | undefined
  for (const { 0: code, index } of text.matchAll(CODE)) {
    while ((words[ended]?.end ?? Infinity) <= index) ended++
    if (index - (words[ended - 1]?.end ?? -Infinity) <= AFTER) return bare(code)
    const end = index + code.length
    while ((words[begun]?.begin ?? Infinity) < end) begun++
    if ((words[begun]?.begin ?? Infinity) - end <= BEFORE) before ??= code
  }
  return before && bare(before)
}

// The first one shortly after a word such as "code", "PIN" or "verification", else shortly before one, else digits alone on
// a line, in the subject, then the text, then the HTML.
/** Returns the one-time code of a message, without spaces and dashes. */
export const oneTimeCode = (message: {
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
}): string | undefined => {
  const { html, subject, text } = message
  const parts = [subject, (text ?? "").slice(0, LIMIT).replaceAll(LINK, ""), textOfHtml((html ?? "").slice(0, LIMIT))]
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
