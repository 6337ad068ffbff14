import { Schema } from "effect"

/** RFC 5321, section 4.5.3.1.1. */
const LIMIT = 64
/** A dot-atom (RFC 5322, section 3.2.3) without `+`, which marks a tag on inbound mail and never a mailbox. */
const PATTERN = /^[A-Za-z0-9!#$%&'*/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*/=?^_`{|}~-]+)*$/u

/**
 * What stands before the @ of a mailbox, in any case; `fold` gives the one form that is kept.
 */
export const LocalPart = Schema.String.check(
  Schema.isMaxLength(LIMIT),
  Schema.isPattern(PATTERN, { expected: "a dot-atom of 1 to 64 characters without a plus sign" })
)

export const fold = (localPart: string): string => localPart.toLowerCase()

/** Names that belong to the operator of a domain (RFC 2142 and what people take for official). */
const RESERVED: ReadonlySet<string> = new Set([
  "abuse",
  "admin",
  "administrator",
  "billing",
  "bounce",
  "bounces",
  "daemon",
  "dmarc",
  "ftp",
  "help",
  "hostmaster",
  "info",
  "legal",
  "mail",
  "mailer-daemon",
  "marketing",
  "news",
  "no-reply",
  "nobody",
  "noc",
  "noreply",
  "postmaster",
  "privacy",
  "root",
  "sales",
  "security",
  "ssl",
  "support",
  "sysadmin",
  "usenet",
  "uucp",
  "webmaster",
  "www"
])

export const isReserved = (localPart: string): boolean => RESERVED.has(fold(localPart))
