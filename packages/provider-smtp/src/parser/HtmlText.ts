import type { MailLink } from "@agentos/core"
import { Token, Tokenizer, TokenizerMode } from "parse5"
import { LineWriter } from "./LineWriter.ts"
import { ListMarkers } from "./ListMarkers.ts"
import { addLink } from "./MailLinks.ts"

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
const LISTS = new Set(["ol", "ul"])
const LINES = new Set("div br li dt dd tr td th caption form fieldset address option body center".split(" "))

/** The converted part of HTML, in characters. */
const HTML_CHARACTERS = 1024 * 1024

/** Limit of an address that is shown, in characters. */
const ADDRESS_CHARACTERS = 2_000
const ADDRESS_SCHEMES = new Set(["http:", "https:", "mailto:", "tel:"])

/** Returns the address of a link in ASCII, without white space and angle brackets; undefined if it can't be used in text. */
const addressOf = (href: string | null, base: string | undefined): string | undefined => {
  if (href === null || href.length > ADDRESS_CHARACTERS) return undefined
  const url = URL.parse(href.trim(), base)
  return url !== null && ADDRESS_SCHEMES.has(url.protocol) && url.href.length <= ADDRESS_CHARACTERS
    ? url.href
    : undefined
}

/** Elements without an end tag. */
const VOID = new Set("area base br col embed hr img input link meta param source track wbr".split(" "))
/** Elements that the next one of their kind ends. */
const ENDED_BY_NEXT = new Set("p li dt dd option tr td th".split(" "))

const STYLE_CHARACTERS = 2_000
const HIDING = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$))/i
const FLAT = /(?:^|;)\s*max-height\s*:\s*0(?:px)?\s*(?:;|!|$)/i
const CLIPPED = /(?:^|;)\s*overflow\s*:\s*hidden/i

/** Whether an element hides its content by an attribute, as mail does with the preview that lists of messages show. */
const isHiding = (token: Token.TagToken): boolean => {
  if (token.attrs.length === 0) return false
  if (Token.getTokenAttr(token, "hidden") !== null) return true
  const style = Token.getTokenAttr(token, "style")?.slice(0, STYLE_CHARACTERS) ?? ""
  return style !== "" && (HIDING.test(style) || (FLAT.test(style) && CLIPPED.test(style)))
}

/** Returns an address without what readers omit. */
const spoken = (address: string): string => address.replace(/^(?:https?:\/\/|mailto:|tel:)/, "").replace(/\/$/, "")

/** What HTML shows. */
export interface ShownHtml {
  /** The text, with the address of each link behind its text and with quotes marked by `> `; null if HTML shows none. */
  readonly text: string | null
  readonly links: ReadonlyArray<MailLink>
}

interface Scanned extends ShownHtml {
  /** Whether an element that hides its content was found, and whether it did not end. */
  readonly hides: boolean
  readonly isOpen: boolean
}

/** Takes time in proportion to the length: tokens are read one by one, and no tree is built. */
const scan = (html: string, skipsHidden: boolean, wantsText: boolean): Scanned => {
  const lines = new LineWriter()
  const markers = new ListMarkers()
  const links = new Map<string, string>()
  let hidden: string | undefined
  let hides = false
  let concealed: { readonly tagName: string; depth: number } | undefined
  let base: string | undefined
  let quotes = 0
  let preformatted = 0
  let link: { readonly address: string; text: string } | undefined

  const write = (text: string): void => {
    if (link !== undefined && link.text.length <= ADDRESS_CHARACTERS) link.text += text
    if (!wantsText) return
    if (preformatted > 0) lines.writePreformatted(text)
    else lines.write(text)
  }
  const endLink = (): void => {
    if (link === undefined) return
    addLink(links, link.address, link.text)
    if (spoken(link.text.trim()) !== spoken(link.address)) {
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
    if (hidden === undefined && concealed === undefined) write(chars)
  }
  /** Returns whether a start tag is in a hidden element, or begins one. */
  const conceals = (token: Token.TagToken): boolean => {
    const { selfClosing, tagName } = token
    if (concealed?.tagName === "p" && (PARAGRAPHS.has(tagName) || LINES.has(tagName))) concealed = undefined
    else if (concealed?.tagName === tagName && ENDED_BY_NEXT.has(tagName) && concealed.depth === 1)
      concealed = undefined
    else if (concealed !== undefined) {
      if (tagName === concealed.tagName || (tagName === "table" && ENDED_BY_NEXT.has(concealed.tagName))) {
        concealed.depth += selfClosing ? 0 : 1
      }
      return true
    }
    if (!skipsHidden || !isHiding(token)) return false
    hides = true
    if (!VOID.has(tagName)) concealed = { tagName, depth: 1 }
    return true
  }
  /** Returns whether an end tag is in a hidden element, or ends it. */
  const isConcealed = (tagName: string): boolean => {
    if (concealed === undefined) return false
    const isNested = tagName === "table" && ENDED_BY_NEXT.has(concealed.tagName)
    if ((tagName === concealed.tagName || isNested) && --concealed.depth === 0) concealed = undefined
    return true
  }

  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag: (token) => {
        const { tagName } = token
        tokenizer.state = RAW[tagName] ?? tokenizer.state
        if (conceals(token)) return
        breakAt(tagName)
        if (HIDDEN.has(tagName)) hidden = tagName
        else if (tagName === "blockquote") lines.isQuote = ++quotes > 0
        else if (tagName === "pre") preformatted++
        else if (LISTS.has(tagName)) markers.start(token)
        else if (tagName === "li") write(`${markers.next(token)} `)
        else if (tagName === "sup") lines.raise()
        else if (tagName === "img") write(` ${Token.getTokenAttr(token, "alt") ?? ""} `)
        else if (tagName === "a") {
          endLink()
          const address = addressOf(Token.getTokenAttr(token, "href"), base)
          if (address !== undefined) link = { address, text: "" }
        } else if (tagName === "area") {
          const address = addressOf(Token.getTokenAttr(token, "href"), base)
          if (address !== undefined) addLink(links, address, Token.getTokenAttr(token, "alt") ?? "")
        } else if (tagName === "base") base ??= addressOf(Token.getTokenAttr(token, "href"), undefined)
      },
      onEndTag: ({ tagName }) => {
        if (isConcealed(tagName)) return
        if (tagName === hidden) hidden = undefined
        if (tagName === "a") endLink()
        breakAt(tagName)
        if (tagName === "blockquote") lines.isQuote = (quotes = Math.max(quotes - 1, 0)) > 0
        if (tagName === "pre") preformatted = Math.max(preformatted - 1, 0)
        if (LISTS.has(tagName)) markers.end()
        if (tagName === "sup") lines.lower()
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
  return {
    text: lines.toString() || null,
    links: [...links].map(([url, text]) => ({ text, url })),
    hides,
    isOpen: concealed !== undefined
  }
}

/**
 * Returns what HTML shows, without the content of elements that their attributes hide. If such an element does not end,
 * or nothing else is there, its content is included: no text of the author is lost.
 */
export const readHtml = (html: string): ShownHtml => {
  const shown = scan(html, true, true)
  return shown.isOpen || (shown.hides && shown.text === null) ? scan(html, false, true) : shown
}

/** Returns the links of HTML alone, in half the time. */
export const linksOfHtml = (html: string): ReadonlyArray<MailLink> => {
  const shown = scan(html, true, false)
  return shown.isOpen || (shown.hides && shown.links.length === 0) ? scan(html, false, false).links : shown.links
}

/** Returns the text that HTML shows; null if it shows none. */
export const textOfHtml = (html: string): string | null => readHtml(html).text
