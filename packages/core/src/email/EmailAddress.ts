import { Schema } from "effect"
import { foldDomain } from "./DomainName.ts"

/** RFC 5321, section 4.5.3.1: the longest local part, and the longest forward path without its brackets. */
const LOCAL_PART_LIMIT = 64
export const ADDRESS_LIMIT = 254

/** RFC 5321 dot-atom. Quoted local parts are rejected: no recipient of agents' mail needs one. */
const DOT_ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/**
 * Whether a text is a plain address of the form local@domain. Rejects control characters, so a valid address is safe in
 * a header.
 */
export const isEmailAddress = (text: string): boolean => {
  const at = text.lastIndexOf("@")
  return (
    text.length <= ADDRESS_LIMIT &&
    at > 0 &&
    at <= LOCAL_PART_LIMIT &&
    DOT_ATOM.test(text.slice(0, at)) &&
    DOMAIN.test(text.slice(at + 1))
  )
}

export const EmailAddress = Schema.String.check(
  Schema.makeFilter((text: string) => isEmailAddress(text) || "must be an email address", {
    toJsonSchema: () => ({ type: "string", format: "email", maxLength: ADDRESS_LIMIT })
  })
)
export type EmailAddress = string

/** Returns a domain as `foldDomain` does; undefined if the text is not a domain of mail. */
export const asciiDomain = (text: string): string | undefined => {
  const domain = foldDomain(text)
  return domain !== undefined && DOMAIN.test(domain) ? domain : undefined
}

/** Splits an address at the last `@`, with the domain in lower case. */
export const splitAddress = (address: string): { readonly localPart: string; readonly domain: string } => {
  const at = address.lastIndexOf("@")
  return { localPart: address.slice(0, at), domain: address.slice(at + 1).toLowerCase() }
}

export const isAt = (address: string, domain: string): boolean => splitAddress(address).domain === domain.toLowerCase()

/** Folds an address, so that two spellings of one local mailbox or of one suppressed recipient are equal. */
export const foldAddress = (address: string): string => address.toLowerCase()

/** Lowercases ASCII letters only: the Kelvin sign would become an ASCII letter, and so another address. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Returns the local part of the mailbox that receives the mail: in lower case, without a plus-tag. */
export const baseLocalPart = (localPart: string): string => {
  const plus = localPart.indexOf("+")
  return lowerAscii(plus > 0 ? localPart.slice(0, plus) : localPart)
}
