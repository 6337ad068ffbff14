/** What the server found out about the sender of a message, in the words of RFC 8601. */
export interface SenderVerdict {
  readonly spf: string
  readonly dkim: string
  readonly dmarc: string
  /** The domain of From if it is proven; older servers do not tell it. */
  readonly domain?: string | null
}

/** The parts of a message that say who sent it. */
export interface SentMessage {
  /** The address in From. */
  readonly from: string
  /** Null or absent where the server checked nothing. */
  readonly authentication?: SenderVerdict | null
}

/** The verdicts for people, with the domain that is proven: `SPF pass, DKIM none, DMARC pass (github.com)`. */
export const verdictText = (verdict: SenderVerdict | null | undefined): string => {
  if (verdict === null || verdict === undefined) return "not checked"
  const { dkim, dmarc, domain, spf } = verdict
  const proven = domain === null || domain === undefined ? "" : ` (${domain})`
  return `SPF ${spf}, DKIM ${dkim}, DMARC ${dmarc}${proven}`
}

/** The same for a cell of a table: `pass/none/pass`; empty where nothing was checked. */
export const verdictCell = (verdict: SenderVerdict | null | undefined): string =>
  verdict === null || verdict === undefined ? "" : `${verdict.spf}/${verdict.dkim}/${verdict.dmarc}`

/** The host of a URL is a domain in the one form that can be compared: small letters, and punycode (RFC 5891). */
export const canonicalDomain = (domain: string): string | undefined => {
  if (!/^[\p{L}\p{M}\p{N}._-]+$/u.test(domain) || !URL.canParse(`https://${domain}`)) return undefined
  return new URL(`https://${domain}`).hostname.replace(/\.$/, "")
}

export const domainOfAddress = (address: string): string | undefined =>
  canonicalDomain(address.slice(address.lastIndexOf("@") + 1))

export const isWithin = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)

/** Whether a domain and the one in From belong together, as relaxed alignment has it (RFC 7489, section 3.1). */
const isAligned = (domain: string, from: string): boolean => {
  const [passed, shown] = [canonicalDomain(domain), domainOfAddress(from)]
  if (passed === undefined || shown === undefined || !passed.includes(".")) return false
  return isWithin(passed, shown) || isWithin(shown, passed)
}

/** Whether DMARC passed, and for the domain in From as far as the server tells it. */
export const isVerified = ({ authentication, from }: SentMessage): boolean => {
  if (authentication?.dmarc !== "pass") return false
  const { domain } = authentication
  return domain === null || domain === undefined || isAligned(domain, from)
}

/** The same, where the server must have told the domain: for whoever relies on a certain sender. */
export const isVerifiedSender = (message: SentMessage): boolean =>
  typeof message.authentication?.domain === "string" && isVerified(message)
