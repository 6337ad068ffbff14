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

/** The DNS for the checks of a sender (SPF, DKIM, DMARC). Plain data, since it is sent to another process. */
export type SenderDns =
  /** The DNS servers configured on this machine. */
  | { readonly _tag: "System" }
  /** These servers, for example `192.0.2.1` or `[2001:db8::1]:53`. */
  | { readonly _tag: "Servers"; readonly servers: ReadonlyArray<string> }
  /** Only these records: no query leaves the machine. */
  | { readonly _tag: "Zone"; readonly records: ReadonlyArray<DnsRecord> }
