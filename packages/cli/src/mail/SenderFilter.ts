import { Failure } from "../failure/Failure.ts"
import { canonicalDomain, domainOfAddress, isWithin } from "./SenderVerdict.ts"

/**
 * Reads what --from names: an address, or a domain with those below it. Part of an address would name nobody:
 * `github.com` is also in `github.com@evil.example`.
 */
export const senderFilter = (text: string): ((from: string) => boolean) => {
  const at = text.lastIndexOf("@")
  const domain = canonicalDomain(text.slice(at + 1))
  if (domain === undefined || !domain.includes("."))
    throw new Failure({
      code: "USAGE",
      message: `--from takes an address or a domain, for example github.com; not "${text}".`
    })
  const localPart = text.slice(0, Math.max(0, at)).toLowerCase()
  return (from) => {
    const found = domainOfAddress(from)
    if (found === undefined) return false
    if (localPart === "") return isWithin(found, domain)
    return found === domain && from.slice(0, from.lastIndexOf("@")).toLowerCase() === localPart
  }
}
