import type { DnsRecord } from "./DnsRecord.ts"

/** The DNS for the checks of a sender (SPF, DKIM, DMARC). Plain data, since it is sent to another process. */
export type SenderDns =
  /** The DNS servers configured on this machine. */
  | { readonly _tag: "System" }
  /** These servers, for example `192.0.2.1` or `[2001:db8::1]:53`. */
  | { readonly _tag: "Servers"; readonly servers: ReadonlyArray<string> }
  /** Only these records: no query leaves the machine. */
  | { readonly _tag: "Zone"; readonly records: ReadonlyArray<DnsRecord> }
