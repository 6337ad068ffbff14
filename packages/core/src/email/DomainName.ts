/** RFC 5321, section 4.5.3.1.2. */
const DOMAIN_CHARACTERS = 255
/** Characters that end a host in a URL or have a meaning in it. */
const URL_SYNTAX = /[\s\p{Cc}/?#@:\\%[\]]/u
const ASCII = /^[\x21-\x7e]*$/
/** Letters, marks and digits: what registered labels beyond ASCII consist of (RFC 5892, section 2.1). */
const LETTERS = /^[\p{L}\p{M}\p{Nd}._-]+$/u
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u

const hostOf = (domain: string): string | undefined => URL.parse(`http://${domain}`)?.hostname

/**
 * Returns a domain in lower case, with labels beyond ASCII as A-labels (RFC 5890). Undefined if a reader would have to map
 * characters other than upper case first (RFC 5895, UTS #46): full-width, circled, mathematical or invisible ones. Another
 * reader may not map them, and see another domain.
 */
export const foldDomain = (text: string): string | undefined => {
  if (text.length > DOMAIN_CHARACTERS || URL_SYNTAX.test(text)) return undefined
  const lower = text.toLowerCase()
  // A URL would read some ASCII names as IPv4 addresses.
  if (ASCII.test(text)) return lower
  if (text !== text.normalize("NFKC") || !LETTERS.test(text) || IGNORABLE.test(text)) return undefined
  const domain = hostOf(text)
  if (domain === undefined || domain !== hostOf(lower)) return undefined
  const labels = domain.split(".")
  const isKept = lower.split(".").every((label, at) => labels[at] === label || labels[at]?.startsWith("xn--") === true)
  return isKept ? domain : undefined
}
