import { Schema, SchemaTransformation } from "effect"
import { foldDomain } from "./DomainName.ts"

/**
 * RFC 5321, section 4.5.3.1.3: the longest forward path without its brackets, in octets. It is the only limit of a local
 * part: 64 octets are what every server accepts, and mailing lists, forwarders and ticket systems write longer ones.
 */
export const ADDRESS_LIMIT = 254

/**
 * RFC 5321 dot-atom, with letters beyond ASCII (RFC 6531, section 3.3). Quoted local parts are rejected: no recipient of
 * agents' mail needs one.
 */
const DOT_ATOM =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~\p{L}\p{M}\p{N}\p{S}-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~\p{L}\p{M}\p{N}\p{S}-]+)*$/iu
/** Of ASCII, a dot-atom has no other symbols: not `<` or `>`. */
const NO_ATOM = /[<>\p{Default_Ignorable_Code_Point}]/u
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const NOT_ASCII = /[^\0-\x7f]/

const octets = (text: string): number => (NOT_ASCII.test(text) ? new TextEncoder().encode(text).length : text.length)

const isLocalPart = (text: string): boolean => text.length > 0 && DOT_ATOM.test(text) && !NO_ATOM.test(text)

/** Whether a mail that names the address needs SMTPUTF8 (RFC 6531): its local part is not ASCII. */
export const needsSmtpUtf8 = (address: string): boolean => NOT_ASCII.test(address)

/**
 * Returns an address as it is stored and sent: with a domain beyond ASCII as A-labels (RFC 5890). Undefined if the text is
 * not a plain address of the form local@domain. An address has no control characters, so it is safe in a header.
 */
export const toEmailAddress = (text: string): string | undefined => {
  if (text.length > ADDRESS_LIMIT) return undefined
  const at = text.lastIndexOf("@")
  const localPart = text.slice(0, Math.max(at, 0))
  const given = text.slice(at + 1)
  if (!isLocalPart(localPart)) return undefined
  const domain = NOT_ASCII.test(given) ? foldDomain(given) : given
  if (domain === undefined || !DOMAIN.test(domain)) return undefined
  const address = `${localPart}@${domain}`
  return octets(address) <= ADDRESS_LIMIT ? address : undefined
}

/** Whether a text is a plain address of the form local@domain, in the form that is stored. */
export const isEmailAddress = (text: string): boolean => toEmailAddress(text) === text

/** An address in a client's request. Its domain may be in Unicode, and is converted to A-labels. */
export const EmailAddress = Schema.String.check(
  Schema.makeFilter((text: string) => toEmailAddress(text) !== undefined || "must be an email address", {
    toJsonSchema: () => ({ type: "string", format: "idn-email", maxLength: ADDRESS_LIMIT })
  })
).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: (text) => toEmailAddress(text) ?? text, encode: (address) => address })
  )
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

const ROLES: ReadonlySet<string> = new Set(["postmaster", "abuse"])

/** Whether every domain accepts mail to a local part (RFC 5321, section 4.5.1; RFC 2142, section 4). No mailbox has it. */
export const isRoleLocalPart = (localPart: string): boolean => ROLES.has(baseLocalPart(localPart))

/** Returns the local part of the mailbox that receives the mail: in lower case, without a plus-tag. */
export const baseLocalPart = (localPart: string): string => {
  const plus = localPart.indexOf("+")
  return lowerAscii(plus > 0 ? localPart.slice(0, plus) : localPart)
}
