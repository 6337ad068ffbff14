import { Schema } from "effect"
import { maxEntries } from "../kernel/SchemaIssues.ts"
import { ADDRESS_LIMIT, asciiDomain, isEmailAddress, lowerAscii, splitAddress } from "./EmailAddress.ts"

/** The maximum number of entries in `allow`, and in `block`. */
export const SENDER_LIST_LIMIT = 100

const SenderMode = Schema.Literals(["anyone", "authenticated", "listed"])

/**
 * The senders from which a mailbox receives mail. A sender is the author of a mail: the address in its From field. A
 * list holds addresses, and domains that include their subdomains, all in lower case with A-labels.
 */
export const SenderPolicy = Schema.Struct({
  mode: SenderMode.annotateKey({
    description:
      "anyone: every sender. authenticated: senders whose From passes DMARC, and those in `allow`. listed: only senders in `allow`."
  }),
  allow: Schema.Array(Schema.String).annotateKey({
    description: "Addresses and domains, with their subdomains, from which mail is received, in lower case."
  }),
  block: Schema.Array(Schema.String).annotateKey({
    description:
      "Addresses and domains, with their subdomains, from which no mail is received, in lower case. It precedes `allow`."
  })
}).annotate({ identifier: "SenderPolicy" })
export type SenderPolicy = typeof SenderPolicy.Type

/** The policy of a mailbox that has not set one. */
export const ANYONE: SenderPolicy = { mode: "anyone", allow: [], block: [] }

export const isAnyone = ({ allow, block, mode }: SenderPolicy): boolean =>
  mode === ANYONE.mode && allow.length === 0 && block.length === 0

/** Returns an entry in the form that is compared; undefined if it is neither an address nor a domain. */
const foldEntry = (entry: string): string | undefined => {
  const at = entry.lastIndexOf("@")
  const domain = asciiDomain(entry.slice(at + 1))
  // An asterisk may be part of an address, but in a list it is meant as a pattern.
  if (domain === undefined || entry.includes("*")) return undefined
  if (at < 0) return domain.includes(".") ? domain : undefined
  const address = `${lowerAscii(entry.slice(0, at))}@${domain}`
  return isEmailAddress(address) ? address : undefined
}

const Entry = Schema.String.check(
  Schema.isMaxLength(ADDRESS_LIMIT),
  Schema.makeFilter(
    (entry: string) =>
      foldEntry(entry) !== undefined ||
      "must be an email address or a domain, for example bob@example.com or example.com"
  )
)
const list = Schema.optionalKey(Schema.Array(Entry).check(maxEntries(SENDER_LIST_LIMIT)))

/** A policy as clients set it: omitted parts are those of `ANYONE`. */
export const SenderPolicyInput = Schema.Struct({
  mode: Schema.optionalKey(SenderMode).annotateKey({
    description: "anyone, authenticated or listed. Default: anyone."
  }),
  allow: list.annotateKey({ description: "Addresses and domains to receive mail from. Default: none." }),
  block: list.annotateKey({ description: "Addresses and domains to receive no mail from. Default: none." })
})
export type SenderPolicyInput = typeof SenderPolicyInput.Type

const foldList = (entries: ReadonlyArray<string> = []): ReadonlyArray<string> => [
  ...new Set(entries.flatMap((entry) => foldEntry(entry) ?? []))
]

/** Returns the policy that an input sets, with each entry once. */
export const fromInput = ({ allow, block, mode }: SenderPolicyInput): SenderPolicy => ({
  mode: mode ?? ANYONE.mode,
  allow: foldList(allow),
  block: foldList(block)
})

const isListed = (entries: ReadonlyArray<string>, sender: string): boolean => {
  const { domain, localPart } = splitAddress(sender)
  // A quoted local part is the same address as the unquoted one (RFC 5322, section 3.4.1).
  const address = `${lowerAscii(localPart.replace(/^"(.*)"$/, "$1"))}@${domain}`
  return entries.some((entry) =>
    entry.includes("@") ? entry === address : domain === entry || domain.endsWith(`.${entry}`)
  )
}

/** The decision of a policy on a mail; `undetermined` if it depends on a DMARC result that is not known. */
export type SenderVerdict = "admitted" | "refused" | "undetermined"

/**
 * Decides on a mail by its author and its DMARC result (RFC 8601); `dmarc` is undefined while the sender has not been
 * checked, which is enough for many decisions. `block` precedes `allow`, which precedes the mode:
 *
 * | author | DMARC | anyone | authenticated | listed |
 * | --- | --- | --- | --- | --- |
 * | in block | any | refused | refused | refused |
 * | in allow | pass, none | admitted | admitted | admitted |
 * | in neither | pass | admitted | admitted | refused |
 * | in neither | none | admitted | refused | refused |
 * | in allow | temperror | admitted | undetermined | undetermined |
 * | in neither | temperror | admitted | undetermined | refused |
 * | not in block | fail, permerror | admitted | refused | refused |
 *
 * So an entry of `allow` does not admit mail whose author is disproved.
 */
export const decide = (policy: SenderPolicy, author: string, dmarc: string | undefined): SenderVerdict => {
  if (isListed(policy.block, author)) return "refused"
  if (policy.mode === "anyone") return "admitted"
  const isAllowed = isListed(policy.allow, author)
  if (policy.mode === "listed" && !isAllowed) return "refused"
  if (dmarc === undefined || dmarc === "temperror") return "undetermined"
  return dmarc === "pass" || (dmarc === "none" && isAllowed) ? "admitted" : "refused"
}
