import { domainToUnicode } from "node:url"
import { foldDomain } from "@agentos/core/domain-name"
import type { HeaderField } from "./HeaderBlock.ts"

/** The one author of a message: the address in From, as the sender policy, the sender checks and readers use it. */
export interface Author {
  /** The address, with its domain in ASCII and lower case. */
  readonly address: string
  readonly domain: string
}

/** RFC 5321, section 4.5.3.1.3: the longest path without its brackets. A local part may fill all that the domain leaves. */
const ADDRESS_LIMIT = 254
const DOMAIN_LIMIT = 255

interface Token {
  readonly kind: "word" | "quoted" | "special"
  readonly text: string
  /** True if white space or a comment precedes the token. */
  readonly isApart: boolean
}

/** `,` `:` and `;` are not included: they occur only in lists and groups, which have no single address. */
const SPECIALS = "<>@."
const REFUSED = /[,:;\\)\p{Cc}]/u
const WORD = /[^ \t"(<>@.]+/y
/**
 * Control, format and space characters, and bytes that are not UTF-8: an address that contains one is displayed
 * as another.
 */
const INVISIBLE = /[\p{C}\p{Z}\ufffd]/u

/** Skips a comment (RFC 5322, section 3.2.2); returns the index after it, or undefined if it does not end. */
export const commentEnd = (text: string, start: number): number | undefined => {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === "\\") at++
    else if (character === "(") depth++
    else if (character === ")" && --depth === 0) return at + 1
  }
  return undefined
}

/** Reads a quoted string; returns its text and the index after it, or undefined if it does not end. */
const quotedString = (text: string, start: number): { readonly text: string; readonly end: number } | undefined => {
  let said = ""
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]!
    if (character === '"') return { text: said, end: at + 1 }
    said += character === "\\" ? (text[++at] ?? "") : character
  }
  return undefined
}

/** Splits a From field into tokens; undefined if it contains anything that a single mailbox cannot contain. */
const tokensOf = (text: string): ReadonlyArray<Token> | undefined => {
  const tokens: Array<Token> = []
  let isApart = false
  for (let at = 0; at < text.length;) {
    const character = text[at]!
    if (character === " " || character === "\t") {
      at++
      isApart = true
      continue
    }
    if (character === "(") {
      const end = commentEnd(text, at)
      if (end === undefined) return undefined
      at = end
      isApart = true
      continue
    }
    if (character === '"') {
      const quoted = quotedString(text, at)
      if (quoted === undefined) return undefined
      tokens.push({ kind: "quoted", text: quoted.text, isApart })
      at = quoted.end
    } else if (SPECIALS.includes(character)) {
      tokens.push({ kind: "special", text: character, isApart })
      at++
    } else {
      WORD.lastIndex = at
      const word = WORD.exec(text)?.[0]
      if (word === undefined || REFUSED.test(word)) return undefined
      tokens.push({ kind: "word", text: word, isApart })
      at += word.length
    }
    isApart = false
  }
  return tokens
}

/** Returns the tokens of the address: those in angle brackets at the end, or all of them if there are no brackets. */
const addressTokens = (tokens: ReadonlyArray<Token>): ReadonlyArray<Token> | undefined => {
  const isSpecial = (character: string) => (token: Token) => token.kind === "special" && token.text === character
  const open = tokens.findIndex(isSpecial("<"))
  if (open < 0) return tokens.some(isSpecial(">")) ? undefined : tokens
  const close = tokens.findIndex(isSpecial(">"))
  // The name before it may contain dots (RFC 5322, section 4.1), but no second address.
  const isName = !tokens.slice(0, open).some(isSpecial("@"))
  return isName && close === tokens.length - 1 ? tokens.slice(open + 1, close) : undefined
}

const isDotAtom = (tokens: ReadonlyArray<Token>): boolean =>
  tokens.length % 2 === 1 && tokens.every(({ kind, text }, at) => (at % 2 === 0 ? kind === "word" : text === "."))

const localPartOf = (tokens: ReadonlyArray<Token>): string | undefined => {
  const [first] = tokens
  if (tokens.length === 1 && first?.kind === "quoted") {
    return /^[!#-;=?-[\]-~]+$/.test(first.text) ? `"${first.text}"` : undefined
  }
  const text = tokens.map((token) => token.text).join("")
  // Some carriers gave out addresses with a dot at the beginning or the end, or several. Each reader sees the same in them.
  const isDotted = tokens.every(({ kind, text: part }) => kind === "word" || part === ".")
  // An encoded word is not allowed here (RFC 2047, section 5), and some readers decode it to another address.
  return isDotted && tokens.some(({ kind }) => kind === "word") && !text.includes("=?") && !INVISIBLE.test(text)
    ? text
    : undefined
}

/** Whether each label is written as in DNS or as a U-label: the sender checks convert them without mapping. */
const isUnmapped = (text: string, domain: string): boolean => {
  if (text.toLowerCase() === domain) return true
  const labels = domain.split(".")
  const shown = domainToUnicode(domain).split(".")
  return text.split(".").every((label, at) => {
    const lower = label.toLowerCase()
    return lower === labels[at] || lower === shown[at]
  })
}

const domainOf = (written: ReadonlyArray<Token>): string | undefined => {
  // A dot at the end names the same domain in DNS.
  const tokens = written.length > 2 && written.at(-1)?.text === "." ? written.slice(0, -1) : written
  if (!isDotAtom(tokens)) return undefined
  const text = tokens.map((token) => token.text).join("")
  const domain = foldDomain(text)
  if (domain === undefined || !isUnmapped(text, domain)) return undefined
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(domain) && domain.length <= DOMAIN_LIMIT ? domain : undefined
}

const addressIn = (tokens: ReadonlyArray<Token>): Author | undefined => {
  if (tokens.slice(1).some(({ isApart }) => isApart)) return undefined
  const at = tokens.findIndex(({ kind, text }) => kind === "special" && text === "@")
  if (at < 1) return undefined
  const localPart = localPartOf(tokens.slice(0, at))
  const domain = domainOf(tokens.slice(at + 1))
  if (localPart === undefined || domain === undefined) return undefined
  const address = `${localPart}@${domain}`
  return address.length > ADDRESS_LIMIT ? undefined : { address, domain }
}

/** Returns the mailbox that a text is; undefined if it is not exactly one in the grammar of RFC 5322, without obsolete forms. */
export const mailboxOf = (value: string): Author | undefined => {
  const tokens = tokensOf(value)
  const address = tokens === undefined ? undefined : addressTokens(tokens)
  return address === undefined ? undefined : addressIn(address)
}

/** What separates the words of a name that no grammar describes. */
const NAME_SEPARATORS = /[\s"'`(),:;[\]\\]+/

/** The text before and in the last angle brackets, and what some programs add after them. */
const BRACKETED = /^([^<>]*)<([^<>]*)>$/

/** Removes the comma or semicolon that some programs write after the address. */
const withoutEnd = (value: string): string => {
  let end = value.length
  while (end > 0 && " \t,;".includes(value[end - 1]!)) end--
  return value.slice(0, end)
}

/**
 * Returns a field with its address in one pair of angle brackets, for programs that write two, square brackets or the
 * scheme of a link.
 */
const withAngleBrackets = (value: string): string => {
  if (!/<<|\[|mailto:/i.test(value)) return value
  const inside = value.replace(/<<([^<>]*)>>$/, "<$1>").replace(/<mailto:([^<>]*)>$/i, "<$1>")
  const isOpen = !/[<>]/.test(inside)
  return isOpen ? inside.replace(/^mailto:/i, "").replace(/\[(?:mailto:)?([^[\]@]*@[^[\]@]*)\]$/i, "<$1>") : inside
}

/** Limit of repetitions of one mailbox. */
const REPEATED_MAX = 10

/** Returns the mailbox of a list that repeats it. */
const repeatedMailboxOf = (value: string): Author | undefined => {
  const parts = value.split(",", REPEATED_MAX + 1)
  if (parts.length < 2 || parts.length > REPEATED_MAX) return undefined
  const [first, ...others] = parts.map(mailboxOf)
  const same = first?.address.toLowerCase()
  return others.every((other) => other?.address.toLowerCase() === same) ? first : undefined
}

/**
 * Returns the mailbox of a field whose name breaks the grammar, for example by a comma, colon, backslash or single
 * quote mark. Its only angle brackets contain the only address: one in the name must be the same.
 */
const bracketedMailboxOf = (value: string): Author | undefined => {
  const [, name = "", address = ""] = BRACKETED.exec(value) ?? []
  const author = /\p{Cc}/u.test(name.replaceAll("\t", " ")) ? undefined : mailboxOf(address)
  if (author === undefined) return undefined
  const same = author.address.toLowerCase()
  const isCertain = name
    .split(NAME_SEPARATORS)
    .every((word) => !isAddressLike(word) || mailboxOf(word)?.address.toLowerCase() === same)
  return isCertain ? author : undefined
}

/** Whether a word of a name could be an address for a reader, also after it decoded or mapped it. */
const isAddressLike = (word: string): boolean => /[@\uff20\ufe6b]/.test(word)

/** Whether a field is a group (RFC 5322, section 3.4), which has a name of its own and any number of addresses. */
const isGroup = (value: string): boolean => /;[\s,;]*$/.test(value.slice(-GROUP_END_CHARACTERS)) && value.includes(":")
const GROUP_END_CHARACTERS = 100

/**
 * Returns the author of a message: the single mailbox in its single From field (RFC 5322, section 3.6.2), also in forms
 * that break the grammar, as long as its address is certain. Undefined if the message has no author or several, or if
 * readers could disagree on it: a group, a list, a route, an encoded word in the address, another address in a display
 * name that is not quoted.
 */
export const authorOf = (fields: ReadonlyArray<HeaderField>): Author | undefined => {
  const [from, ...more] = fields.filter(({ name }) => name === "from")
  if (from === undefined || more.length > 0) return undefined
  const value = Buffer.from(from.value, "latin1").toString("utf8")
  if (isGroup(value)) return undefined
  const mailbox = withAngleBrackets(withoutEnd(value).trimStart())
  return mailboxOf(mailbox) ?? bracketedMailboxOf(mailbox) ?? repeatedMailboxOf(mailbox)
}

/**
 * Returns the name in a From field that has an author, with its encoded words: the phrase before the address without
 * quotes and comments, or else the comments; empty without either.
 */
export const displayNameIn = (written: string): string => {
  const mailbox = withAngleBrackets(withoutEnd(written).trimStart())
  const value = repeatedMailboxOf(mailbox) === undefined ? mailbox : mailbox.split(",", 1)[0]!
  const open = value.lastIndexOf("<")
  const tokens = tokensOf(open < 0 ? "" : value.slice(0, open).trim())
  if (tokens === undefined) return value.slice(0, open).replaceAll('"', "").trim()
  const phrase = tokens.map(({ isApart, text }, at) => (isApart && at > 0 ? ` ${text}` : text)).join("")
  return phrase || commentIn(value)
}

const commentIn = (value: string): string => {
  const start = value.indexOf("(")
  const end = start < 0 ? undefined : commentEnd(value, start)
  return end === undefined ? "" : value.slice(start + 1, end - 1).replaceAll(/\\(.)/g, "$1")
}
