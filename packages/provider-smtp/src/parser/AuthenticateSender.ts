import type { InboundEnvelope, SenderAuthentication } from "@agentos/core"
import { foldDomain } from "@agentos/core/domain-name"
import type { AuthenticateOptions } from "mailauth"
import { type Author, authorOf } from "../header/Author.ts"
import { HEADER_LIMIT_BYTES, type HeaderField, readHeaderBlock, withoutMailboxLine } from "../header/HeaderBlock.ts"
import { authenticate } from "./Mailauth.ts"
import { type AuthenticationSettings, UNCHECKABLE, UNDETERMINED } from "./ParserMessage.ts"
import { type Lookup, openLookup } from "./SenderResolver.ts"

/**
 * Limit of lookups for one mail: SPF may need 10 names with their addresses (RFC 7208, section 4.6.4), each
 * signature one.
 */
const LOOKUPS_MAX = 60

/** Limit of a field whose domains mailauth normalizes, in time in the square of its length. Others are a tenth of it. */
const FIELD_CHARACTERS = 16 * 1024

const isOversized = ({ name, value }: HeaderField): boolean =>
  (name === "from" || name === "dkim-signature") && value.length > FIELD_CHARACTERS

/** The results of RFC 8601, best first. */
const DKIM_ORDER = ["pass", "fail", "temperror", "permerror", "neutral", "none"]

/** `policy` (RFC 8601, section 2.7.1) is a signature too weak to count: with SHA-1, or of a part of the body. */
const plainResult = (result: string | undefined): string =>
  result === undefined ? "none" : result === "policy" ? "permerror" : result

/** Returns one result for all signatures of a mail: a single valid one is enough (RFC 6376, section 6.1). */
const dkimResult = (results: ReadonlyArray<string>): string =>
  DKIM_ORDER.find((word) => results.includes(word)) ?? "none"

const LF = 0x0a
const CR = 0x0d

/**
 * Replaces each bare line feed with CRLF. mailauth reads it the same way, but handles each such line
 * separately, which is slow.
 */
const withLineEndings = (raw: Uint8Array): Buffer => {
  let bare = 0
  for (let at = 0; at < raw.length; at++) if (raw[at] === LF && raw[at - 1] !== CR) bare++
  if (bare === 0) return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const written = Buffer.allocUnsafe(raw.length + bare)
  let length = 0
  for (let at = 0; at < raw.length; at++) {
    if (raw[at] === LF && raw[at - 1] !== CR) written[length++] = CR
    written[length++] = raw[at]!
  }
  return written
}

type Checked = Awaited<ReturnType<typeof authenticate>>

const domainAfterAt = (address: string): string | undefined => foldDomain(address.slice(address.lastIndexOf("@") + 1))

/** Returns whether mailauth read the same single author: a sender that two readers see differently gets no result. */
const agreesOn = ({ domain }: Author, { dkim }: Checked): boolean =>
  dkim.headerFrom.length === 1 && domainAfterAt(dkim.headerFrom[0]!) === domain

/** Whether a signature leaves a part of the body out (`l=`, RFC 6376, section 8.2), so that text can be added there. */
const isPartial = ({ status }: Checked["dkim"]["results"][number]): boolean => (status.underSized ?? 0) > 0

const dkimResultOf = (signature: Checked["dkim"]["results"][number]): string => {
  const result = signature.status.result
  return result === "pass" && isPartial(signature) ? "policy" : result
}

/** Returns the result of DMARC. mailauth prefers whole signatures, and also passes a partial one. */
const dmarcResult = ({ dmarc }: Checked): string | undefined => {
  if (!dmarc) return undefined
  const { alignment, status } = dmarc
  const isByPartial = status.result === "pass" && !alignment?.spf?.result && (alignment?.dkim?.underSized ?? 0) > 0
  return isByPartial ? "fail" : status.result
}

/** Returns whether the From domain is proven: by DMARC, or, if the domain has no policy, by an aligned pass. */
const isProven = (domain: string, checked: Checked): boolean => {
  const dmarc = dmarcResult(checked)
  if (dmarc !== "none") return dmarc === "pass"
  const spf = checked.spf && checked.spf.status.result === "pass" ? checked.spf.domain : undefined
  return (
    spf === domain ||
    checked.dkim.results.some((signature) => dkimResultOf(signature) === "pass" && Boolean(signature.status.aligned))
  )
}

/**
 * Checks the sender of a message by SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 9989). Never rejects: a
 * lookup that fails or takes too long gives `temperror`. A message without exactly one author has the DMARC
 * result `permerror`.
 */
export const authenticateSender = async (
  raw: Uint8Array,
  envelope: InboundEnvelope,
  settings: AuthenticationSettings
): Promise<SenderAuthentication> => {
  const header = readHeaderBlock(raw, HEADER_LIMIT_BYTES)
  if (header._tag === "TooLarge" || (header._tag === "Fields" && header.fields.some(isOversized))) return UNCHECKABLE
  const author = header._tag === "Fields" ? authorOf(header.fields) : undefined
  const { lookup, close } = openLookup(settings.dns, { millis: settings.dnsMillis, lookupsMax: LOOKUPS_MAX })
  try {
    const checked = await authenticate(withLineEndings(withoutMailboxLine(raw)), {
      ip: envelope.remoteAddress,
      helo: envelope.helo,
      sender: envelope.mailFrom,
      mta: settings.hostName,
      resolver: forMailauth(lookup),
      trustReceived: false,
      strict: true,
      disableArc: true,
      disableBimi: true
    })
    const dkim = checked.dkim.results.map((signature) => plainResult(dkimResultOf(signature)))
    const spf = checked.spf ? plainResult(checked.spf.status.result) : "none"
    if (author === undefined || !agreesOn(author, checked)) {
      return { spf, dkim: dkimResult(dkim), dmarc: "permerror", domain: null }
    }
    return {
      spf,
      dkim: dkimResult(dkim),
      dmarc: checked.dmarc ? plainResult(dmarcResult(checked)) : "permerror",
      domain: isProven(author.domain, checked) ? author.domain : null
    }
  } catch {
    return UNDETERMINED
  } finally {
    close()
  }
}

/** The declared type omits MX records, which mailauth reads in the form of node:dns. */
const forMailauth = (lookup: Lookup): NonNullable<AuthenticateOptions["resolver"]> =>
  lookup as (name: string, type: string) => Promise<Array<Array<string>> | Array<string>>
