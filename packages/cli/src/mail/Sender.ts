import { usageError } from "@agentos/node/command-line"

/** The server's checks of the sender of a message, in the words of RFC 8601. */
export interface SenderChecks {
  readonly spf: string
  readonly dkim: string
  readonly dmarc: string
  /** The verified domain of From. Older servers omit it. */
  readonly domain?: string | null
}

export interface SentMessage {
  /** The address in From. */
  readonly from: string
  /** Null or absent if nothing was checked. */
  readonly authentication?: SenderChecks | null
}

/** Formats the checks with the verified domain: `SPF pass, DKIM none, DMARC pass (github.com)`. */
export const checksText = (checks: SenderChecks | null | undefined): string => {
  if (checks === null || checks === undefined) return "not checked"
  const { dkim, dmarc, domain, spf } = checks
  const verified = domain === null || domain === undefined ? "" : ` (${domain})`
  return `SPF ${spf}, DKIM ${dkim}, DMARC ${dmarc}${verified}`
}

/** Formats the checks for a table: `pass/none/pass`; empty if nothing was checked. */
export const checksCell = (checks: SenderChecks | null | undefined): string =>
  checks === null || checks === undefined ? "" : `${checks.spf}/${checks.dkim}/${checks.dmarc}`

/** Returns a domain in the form that can be compared: lower case, and punycode (RFC 5891). */
const canonicalDomain = (domain: string): string | undefined => {
  if (!/^[\p{L}\p{M}\p{N}._-]+$/u.test(domain) || !URL.canParse(`https://${domain}`)) return undefined
  return new URL(`https://${domain}`).hostname.replace(/\.$/, "")
}

const domainOf = (address: string): string | undefined => canonicalDomain(address.slice(address.lastIndexOf("@") + 1))

const isWithin = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)

/** Whether a domain is aligned with From, in the relaxed mode of RFC 7489, section 3.1. */
const isAligned = (domain: string, from: string): boolean => {
  const [verified, shown] = [canonicalDomain(domain), domainOf(from)]
  if (verified === undefined || shown === undefined || !verified.includes(".")) return false
  return isWithin(verified, shown) || isWithin(shown, verified)
}

/** Whether DMARC passed, for the domain of From if the server reports the domain. */
export const isVerified = ({ authentication, from }: SentMessage): boolean => {
  if (authentication?.dmarc !== "pass") return false
  const { domain } = authentication
  return domain === null || domain === undefined || isAligned(domain, from)
}

/** The same, but the server must report the domain. For a filter by sender. */
export const isVerifiedSender = (message: SentMessage): boolean =>
  typeof message.authentication?.domain === "string" && isVerified(message)

/**
 * Parses --from: an address, or a domain with its subdomains. A part of an address is not enough, because `github.com`
 * is also in `github.com@evil.example`.
 */
export const senderFilter = (text: string): ((from: string) => boolean) => {
  const at = text.lastIndexOf("@")
  const domain = canonicalDomain(text.slice(at + 1))
  if (domain === undefined || !domain.includes("."))
    throw usageError(`--from takes an address or a domain such as github.com, not "${text}".`)
  const localPart = text.slice(0, Math.max(0, at)).toLowerCase()
  return (from) => {
    const found = domainOf(from)
    if (found === undefined) return false
    if (localPart === "") return isWithin(found, domain)
    return found === domain && from.slice(0, from.lastIndexOf("@")).toLowerCase() === localPart
  }
}
