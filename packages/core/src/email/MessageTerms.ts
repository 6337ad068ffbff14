import { foldAddress } from "./EmailAddress.ts"
import type { Message, MessageSummary } from "./Message.ts"
import type { MessageFilter } from "./MessageStore.ts"

/** Text and HTML are searchable up to this many characters, and a message up to this many different words. */
const TEXT_CHARACTERS = 256 * 1024
const WORDS_MAX = 5_000
/** Longer words are cut, both in messages and in queries. */
const WORD_CHARACTERS = 64

const ADDRESS_CHARACTERS = 320

const NOT_ASCII = /[^\0-\x7f]/
/** The same words as `WORD` finds in text of ASCII, several times as fast. */
const ASCII_WORD = /[a-z0-9]+/g
const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts that are written without spaces between words: their words are pairs of neighboring characters. */
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu

/** More marks on one letter than any script uses (UAX #15, section 13). Normalization sorts them, in quadratic time. */
const MANY_MARKS = /(\p{M}{30})\p{M}+/gu

/**
 * Returns the different words of a text in lower case: runs of letters and digits, and pairs of characters in scripts
 * without spaces. Everything else separates words, so no text is an operator.
 */
export const searchWords = (text: string): ReadonlyArray<string> => {
  const words = new Set<string>()
  if (!NOT_ASCII.test(text)) {
    for (const word of text.toLowerCase().match(ASCII_WORD) ?? []) {
      words.add(cut(word))
      if (words.size >= WORDS_MAX) break
    }
    return [...words]
  }
  for (const [run] of text.replaceAll(MANY_MARKS, "$1").normalize("NFKC").toLowerCase().matchAll(WORD)) {
    for (const word of run.replace(SPACELESS, " ").split(" ")) if (word !== "") words.add(cut(word))
    for (const [spaceless] of run.matchAll(SPACELESS)) {
      const characters = [...spaceless]
      if (characters.length === 1) words.add(spaceless)
      for (let at = 1; at < characters.length; at++) words.add(`${characters[at - 1]}${characters[at]}`)
    }
    if (words.size >= WORDS_MAX) break
  }
  return [...words].slice(0, WORDS_MAX)
}

const cut = (word: string): string =>
  word.length <= WORD_CHARACTERS ? word : word.slice(0, WORD_CHARACTERS).replace(/[\ud800-\udbff]$/, "")

/** Returns HTML without its tags, in one pass. */
const withoutTags = (html: string): string =>
  html
    .split("<")
    .map((part, index) => (index === 0 ? part : part.slice(part.indexOf(">") + 1)))
    .join(" ")

/**
 * The terms by which a message is found. Words contain no colon, so they equal no other term. A tenant's term is part
 * of each query, so that one index serves all tenants.
 */
export const term = {
  tenant: (tenantId: string) => `tenant:${tenantId}`,
  mailbox: (mailboxId: string) => `mailbox:${mailboxId}`,
  thread: (threadId: string) => `thread:${threadId}`,
  relay: (relayId: string) => `relay:${foldRelayId(relayId)}`,
  direction: (direction: Message["direction"]) => `direction:${direction}`,
  /** On one line, and no longer than an address can be: an unreadable mail may claim any sender. */
  from: (address: string) => `from:${foldAddress(address).replace(/\s/g, " ").slice(0, ADDRESS_CHARACTERS)}`
}

const RELAY_ID_CHARACTERS = 128

/** Programs change the case of Message-IDs, and a term is one line. */
const foldRelayId = (relayId: string): string => relayId.toLowerCase().replace(/\s/g, " ").slice(0, RELAY_ID_CHARACTERS)

/** Returns the terms of a filter, apart from the mailbox; a message that matches it has them all. */
export const filterTerms = ({
  direction,
  from,
  relayId,
  threadId,
  words = []
}: MessageFilter): ReadonlyArray<string> => [
  ...(threadId === undefined ? [] : [term.thread(threadId)]),
  ...(direction === undefined ? [] : [term.direction(direction)]),
  ...(from === undefined ? [] : [term.from(from)]),
  ...(relayId === undefined ? [] : [term.relay(relayId)]),
  ...words
]

type Described = Pick<MessageSummary, "tenantId" | "mailboxId" | "threadId" | "direction" | "relayIds"> & MessageText
type MessageText = Pick<Message, "from" | "sender" | "replyTo" | "recipients" | "subject" | "text" | "html">

/** Returns the terms of a message: its ids, direction and author, and the words of subject, names, addresses and text. */
export const messageTerms = (message: Described): ReadonlyArray<string> => {
  const {
    direction,
    from,
    html,
    mailboxId,
    recipients,
    relayIds = [],
    replyTo,
    sender,
    subject,
    tenantId,
    text,
    threadId
  } = message
  const body = text ?? withoutTags((html ?? "").slice(0, TEXT_CHARACTERS))
  const named = [sender, ...recipients].map(({ address, name }) => `${name ?? ""} ${address}`)
  return [
    term.tenant(tenantId),
    term.mailbox(mailboxId),
    term.thread(threadId),
    term.direction(direction),
    term.from(from),
    ...relayIds.map(term.relay),
    ...searchWords([subject, ...named, ...replyTo, body.slice(0, TEXT_CHARACTERS)].join(" "))
  ]
}
