import { Token, Tokenizer, TokenizerMode } from "parse5"

/** Elements whose content is not markup, with how it is read. None of it is shown, except that of a text area. */
const RAW: Readonly<Record<string, Tokenizer["state"]>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA
}
const HIDDEN = new Set(["script", "style", "iframe", "noembed", "noframes", "title"])

/** Elements that begin and end a paragraph, and those that begin and end a line. */
const PARAGRAPHS = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre article section header footer hr".split(" ")
)
const LINES = new Set("div br li dt dd tr td th caption form fieldset address option body center".split(" "))

/** The converted part of HTML, in characters. */
const HTML_CHARACTERS = 1024 * 1024

/** Limit of an address that is shown, in characters. */
const ADDRESS_CHARACTERS = 2_000
const ADDRESS_SCHEMES = new Set(["http:", "https:", "mailto:", "tel:"])

/** Returns the address of a link in ASCII, without white space and angle brackets; undefined if it can't be used in text. */
const addressOf = (href: string | null): string | undefined => {
  if (href === null || href.length > ADDRESS_CHARACTERS) return undefined
  const url = URL.parse(href)
  return url !== null && ADDRESS_SCHEMES.has(url.protocol) ? url.href : undefined
}

/** Returns an address without what readers omit. */
const spoken = (address: string): string => address.replace(/^(?:https?:\/\/|mailto:|tel:)/, "").replace(/\/$/, "")

/** Writes lines: white space is one space, and no more than one line in a row is empty. */
class LineWriter {
  readonly #parts: Array<string> = []
  #breaks = 0
  #hasSpace = false
  isQuote = false

  /** Ends the line, and with 2 also the paragraph. */
  break(count: 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, count)
    this.#hasSpace = false
  }

  space(): void {
    this.#hasSpace = true
  }

  word(text: string): void {
    const isFirst = this.#parts.length === 0
    if (!isFirst && this.#breaks > 0) this.#parts.push("\n".repeat(this.#breaks))
    else if (!isFirst && this.#hasSpace) this.#parts.push(" ")
    if (this.isQuote && (isFirst || this.#breaks > 0)) this.#parts.push("> ")
    this.#breaks = 0
    this.#hasSpace = false
    this.#parts.push(text)
  }

  toString(): string {
    return this.#parts.join("")
  }
}

/**
 * Returns the text that HTML shows, with the address of each link behind its text and with quotes marked by `> `; null
 * without text. Takes time in proportion to the length: tokens are read one by one, and no tree is built.
 */
export const textOfHtml = (html: string): string | null => {
  const lines = new LineWriter()
  let hidden: string | undefined
  let quotes = 0
  let preformatted = 0
  let link: { readonly address: string; text: string } | undefined

  const write = (text: string): void => {
    if (link !== undefined && link.text.length <= ADDRESS_CHARACTERS) link.text += text
    for (const [index, line] of (preformatted > 0 ? text.split(/\r?\n/) : [text]).entries()) {
      if (index > 0) lines.break(1)
      for (const [piece] of line.matchAll(/\S+|\s+/g)) {
        if (piece.trim() === "") lines.space()
        else lines.word(piece)
      }
    }
  }
  const endLink = (): void => {
    if (link !== undefined && spoken(link.text.trim()) !== spoken(link.address)) {
      lines.space()
      lines.word(`<${link.address}>`)
    }
    link = undefined
  }
  const breakAt = (tagName: string): void => {
    if (PARAGRAPHS.has(tagName)) lines.break(2)
    else if (LINES.has(tagName)) lines.break(1)
  }
  const onText = ({ chars }: Token.CharacterToken): void => {
    if (hidden === undefined) write(chars)
  }

  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag: (token) => {
        const { tagName } = token
        tokenizer.state = RAW[tagName] ?? tokenizer.state
        breakAt(tagName)
        if (HIDDEN.has(tagName)) hidden = tagName
        else if (tagName === "blockquote") lines.isQuote = ++quotes > 0
        else if (tagName === "pre") preformatted++
        else if (tagName === "li") write("- ")
        else if (tagName === "img") write(` ${Token.getTokenAttr(token, "alt") ?? ""} `)
        else if (tagName === "a") {
          endLink()
          const address = addressOf(Token.getTokenAttr(token, "href"))
          if (address !== undefined) link = { address, text: "" }
        }
      },
      onEndTag: ({ tagName }) => {
        if (tagName === hidden) hidden = undefined
        if (tagName === "a") endLink()
        breakAt(tagName)
        if (tagName === "blockquote") lines.isQuote = (quotes = Math.max(quotes - 1, 0)) > 0
        if (tagName === "pre") preformatted = Math.max(preformatted - 1, 0)
      },
      onCharacter: onText,
      onWhitespaceCharacter: onText,
      onNullCharacter: () => undefined,
      onComment: () => undefined,
      onDoctype: () => undefined,
      onEof: endLink
    }
  )
  tokenizer.write(html.slice(0, HTML_CHARACTERS), true)
  return lines.toString() || null
}
