import type { MailLink } from "@agentos/core"

/** Limits of the links of a mail. */
const LINKS_MAX = 100
const URL_CHARACTERS = 2_000
const TEXT_CHARACTERS = 200

/** Returns a text on one line, cut without splitting a character. */
const shortened = (text: string): string =>
  text
    .slice(0, TEXT_CHARACTERS * 4)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, TEXT_CHARACTERS)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd()

/** Adds a link to those of a mail, unless its address is there. An empty text is replaced by a later one. */
export const addLink = (links: Map<string, string>, url: string, text: string): void => {
  if (links.size >= LINKS_MAX && !links.has(url)) return
  if (!links.get(url)) links.set(url, shortened(text))
}

const ADDRESS = /\b(?:https?:\/\/|mailto:|tel:)[^\s<>"\u0000-\u001f\u007f。，、；：！？（）【】「」『』《》“”]+/gi

/** Marks after an address that belong to its sentence. */
const SENTENCE_END = new Set(".,;:!?'*_|’»…")
const PAIRS: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" }

/** Returns an address without the marks of the sentence around it. A bracket belongs to the address if it opens there. */
const withoutSentence = (written: string): string => {
  const unopened = new Map<string, number>()
  for (const [close, open] of Object.entries(PAIRS)) {
    unopened.set(close, written.split(close).length - written.split(open).length)
  }
  let end = written.length
  for (; end > 0; end--) {
    const last = written[end - 1]!
    const count = unopened.get(last) ?? 0
    if (count > 0) unopened.set(last, count - 1)
    else if (!SENTENCE_END.has(last)) break
  }
  return written.slice(0, end)
}

/** Returns the links that a text contains, in order. */
export const linksInText = (text: string): ReadonlyArray<MailLink> => {
  const links = new Map<string, string>()
  for (const [found] of text.matchAll(ADDRESS)) {
    if (links.size === LINKS_MAX) break
    if (found.length > URL_CHARACTERS) continue
    const written = withoutSentence(found)
    const url = URL.parse(written)?.href
    if (url !== undefined && url.length <= URL_CHARACTERS && !/^(?:mailto|tel):$/.test(url))
      addLink(links, url, written)
  }
  return [...links].map(([url, shown]) => ({ text: shown, url }))
}
