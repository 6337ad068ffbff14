/** The converted part of HTML, in characters: the most that the service keeps of a mail. */
const HTML_LIMIT = 1 << 20
const ELEMENT = /^(?:\/?[a-z][a-z0-9]*|!)/i
/** Elements whose content is hidden. */
const HIDDEN = /^(?:style|script|head)$/
const LINE_END = /^(?:br|\/(?:p|div|tr|li|h[1-6]))$/
const CELL_END = /^\/t[dh]$/
const HREF = /\shref\s{0,9}=\s{0,9}(?:"([^"]*)|'([^']*)|([^\s>]+))/i
const ENTITY = /&(?:#(x[\da-f]{1,6}|\d{1,7})|([a-z])(acute|grave|circ|uml|tilde|cedil|ring|caron)|([a-z]{2,4}));/gi
const NAMED: Readonly<Record<string, string>> = {
  acute: "\u0301",
  grave: "\u0300",
  circ: "\u0302",
  uml: "\u0308",
  tilde: "\u0303",
  cedil: "\u0327",
  ring: "\u030a",
  caron: "\u030c",
  nbsp: " ",
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  zwnj: "",
  shy: ""
}

/** Replaces the character references of most mail. */
const decoded = (text: string): string =>
  text.replaceAll(ENTITY, (reference, number?: string, letter?: string, accent?: string, name?: string) => {
    if (number !== undefined) {
      const point = Number(`0${number}`)
      return point < 0x11_0000 ? String.fromCodePoint(point === 160 ? 32 : point) : ""
    }
    if (letter !== undefined) return (letter + NAMED[accent!.toLowerCase()]!).normalize()
    return NAMED[name!.toLowerCase()] ?? reference
  })

export interface Link {
  readonly text: string
  readonly url: string
}

/** Extracts the visible text and the links of HTML, roughly, in linear time. */
export const readHtml = (html: string): { readonly text: string; readonly links: ReadonlyArray<Link> } => {
  const [first = "", ...pieces] = html.slice(0, HTML_LIMIT).split("<")
  const parts = [first]
  const links: Array<Link> = []
  let hidden = ""
  let link: { readonly url: string; readonly start: number } | undefined
  const endLink = () => {
    if (link !== undefined) links.push({ text: decoded(parts.slice(link.start).join("")), url: link.url })
    link = undefined
  }
  for (const piece of pieces) {
    const close = piece.indexOf(">")
    const element = close < 0 ? "" : (ELEMENT.exec(piece)?.[0] ?? "").toLowerCase()
    if (hidden === "") {
      if (LINE_END.test(element)) parts.push("\n")
      if (CELL_END.test(element)) parts.push("\t")
      if (HIDDEN.test(element)) hidden = element
      if (element === "a" || element === "/a") endLink()
      const [, double, single, bare] = element === "a" ? (HREF.exec(piece) ?? []) : []
      const url = double ?? single ?? bare
      if (url !== undefined) link = { url: decoded(url).trim(), start: parts.length }
    } else if (element === `/${hidden}` || (element === "body" && hidden === "head")) {
      hidden = ""
      parts.push(" ")
    }
    if (hidden === "") parts.push((close < 0 ? `<${piece}` : piece.slice(close + 1)).replaceAll(/\s+/g, " "))
  }
  endLink()
  return { text: decoded(parts.join("")), links }
}
