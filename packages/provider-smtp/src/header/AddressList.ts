import { type Address, addressParser } from "postal-mime"
import { commentEnd, displayNameIn, mailboxOf } from "./Author.ts"
import { decodeWords } from "./EncodedWords.ts"

/** An address as a field has it, which need not be usable, and the name beside it, which may be empty. */
export interface ListedAddress {
  readonly address: string
  readonly name: string
}

const QUOTED = /"(?:[^"\\]|\\[^])*"/y
/** Some programs write separators into an encoded word, where RFC 2047 does not allow them. */
const ENCODED_WORD = /=\?[^?\s]{1,40}\?[bq]\?[^?\s]*\?=/iy

const endOf = (pattern: RegExp, text: string, at: number): number | undefined => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/**
 * Splits a field at the separators that are outside of quoted strings, comments, encoded words and brackets, and leaves out
 * the names of groups. Undefined if a quoted string or a comment does not end.
 */
const split = (field: string): ReadonlyArray<string> | undefined => {
  const parts: Array<string> = []
  let start = 0
  let closing: string | undefined
  const end = (at: number): void => {
    const part = field.slice(start, at).trim()
    if (part !== "") parts.push(part)
    start = at + 1
  }
  for (let at = 0; at < field.length;) {
    const character = field[at]!
    const next =
      character === '"'
        ? endOf(QUOTED, field, at)
        : character === "("
          ? commentEnd(field, at)
          : ((character === "=" ? endOf(ENCODED_WORD, field, at) : undefined) ?? at + 1)
    if (next === undefined) return undefined
    if (closing !== undefined) closing = character === closing ? undefined : closing
    else if (character === "<") closing = ">"
    else if (character === "[") closing = "]"
    else if (character === "," || character === ";") end(at)
    else if (character === ":") start = at + 1
    at = next
  }
  end(field.length)
  return parts
}

/** Returns a mailbox without the comments and the route around its address, and without spaces around its dots. */
const simplified = (mailbox: string): string => {
  let text = ""
  for (let at = 0; at < mailbox.length;) {
    const end = mailbox[at] === "(" ? commentEnd(mailbox, at) : endOf(QUOTED, mailbox, at)
    if (mailbox[at] !== "(") text += mailbox.slice(at, end ?? at + 1)
    at = end ?? at + 1
  }
  const bare = text.replace(/<\s*@[^<>:]{1,255}:/, "<").trim()
  return /["<]/.test(bare) ? bare : bare.replaceAll(/\s*([.@])\s*/g, "$1")
}

const flat = (listed: ReadonlyArray<Address>): ReadonlyArray<ListedAddress> =>
  listed.flatMap((entry) => entry.group ?? [entry])

/**
 * Yields the addresses in the value of To, Cc or Reply-To (RFC 5322, section 3.4), also in the obsolete forms of section 4.4
 * and in forms that break the grammar. postal-mime alone loses the quotes of a local part, and reads routes and nested
 * comments as parts of addresses.
 */
export function* addressesIn(field: string): Generator<ListedAddress, void> {
  const parts = split(field)
  if (parts === undefined) return yield* flat(addressParser(field))
  for (const part of parts) {
    const bare = simplified(part)
    const address = mailboxOf(bare)?.address
    if (address === undefined) yield* flat(addressParser(bare))
    else yield { address, name: decodeWords(displayNameIn(part)) }
  }
}
