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
