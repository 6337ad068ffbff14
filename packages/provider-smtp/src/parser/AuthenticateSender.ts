import type { InboundEnvelope, SenderAuthentication } from "@agentos/core"
import { authenticate, type AuthenticateOptions } from "mailauth"
import type { SenderDns } from "../SenderDns.ts"
import { type Lookup, openLookup } from "./SenderResolver.ts"
import { UNDETERMINED } from "./Undetermined.ts"

/** How the checks of a sender are made. Plain data. */
export interface AuthenticationSettings {
  /** The name of the host that took the mail. */
  readonly hostName: string
  readonly dns: SenderDns
  /** For all lookups together. */
  readonly dnsMillis: number
}

/** Most names looked up for one mail: SPF may take 10 with their addresses (RFC 7208, section 4.6.4), each signature one. */
const LOOKUPS_MAX = 60

/** The results of RFC 8601, the best that a signature can have first. */
const DKIM_ORDER = ["pass", "fail", "temperror", "permerror", "neutral", "none"]

/** `policy` (RFC 8601, section 2.7.1) is a signature too weak to count, as one by SHA-1. */
const plainResult = (result: string | undefined): string =>
  result === undefined ? "none" : result === "policy" ? "permerror" : result

/** One word for all signatures of a mail: a single valid one is enough (RFC 6376, section 6.1). */
const dkimResult = (results: ReadonlyArray<string>): string =>
  DKIM_ORDER.find((word) => results.includes(word)) ?? "none"

/**
 * Checks the sender of a mail by SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 9989). Never rejects: what
 * can't be looked up in time is a `temperror`.
 */
export const authenticateSender = async (
  raw: Uint8Array,
  envelope: InboundEnvelope,
  settings: AuthenticationSettings
): Promise<SenderAuthentication> => {
  const { lookup, close } = openLookup(settings.dns, { millis: settings.dnsMillis, lookupsMax: LOOKUPS_MAX })
  try {
    const checked = await authenticate(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), {
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
    const dkim = checked.dkim.results.map(({ status }) => plainResult(status.result))
    return {
      spf: checked.spf ? plainResult(checked.spf.status.result) : "none",
      dkim: dkimResult(dkim),
      dmarc: checked.dmarc ? plainResult(checked.dmarc.status.result) : "none"
    }
  } catch {
    return UNDETERMINED
  } finally {
    close()
  }
}

/** Its declared type leaves out the records of MX, which it reads as node:dns gives them. */
const forMailauth = (lookup: Lookup): NonNullable<AuthenticateOptions["resolver"]> =>
  lookup as (name: string, type: string) => Promise<Array<Array<string>> | Array<string>>
