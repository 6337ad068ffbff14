/** One record of a DNS zone, its value as a zone file has it (`10 mail.example.com` for an MX). A TXT value is the whole text. */
export interface DnsRecord {
  /** The whole name, with or without the dot at its end. Case does not matter. */
  readonly name: string
  readonly type: "TXT" | "A" | "AAAA" | "MX" | "PTR"
  readonly value: string
}
