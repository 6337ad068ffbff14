/**
 * A record of a DNS zone, with its value as in a zone file (`10 mail.example.com` for an MX). A TXT value is
 * the joined text.
 */
export interface DnsRecord {
  /** The full name, with or without the final dot, in upper or lower case. */
  readonly name: string
  readonly type: "TXT" | "A" | "AAAA" | "MX" | "PTR"
  readonly value: string
}
