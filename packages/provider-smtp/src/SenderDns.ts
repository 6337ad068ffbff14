import type { DnsRecord } from "./DnsRecord.ts"

/** Where the checks of a sender (SPF, DKIM, DMARC) look names up. Plain data: it is handed to another process. */
export type SenderDns =
  /** The DNS servers that this machine is set to. */
  | { readonly _tag: "System" }
  /** These servers, as `192.0.2.1` or `[2001:db8::1]:53`. */
  | { readonly _tag: "Servers"; readonly servers: ReadonlyArray<string> }
  /** These records and nothing else: nothing leaves the machine. */
  | { readonly _tag: "Zone"; readonly records: ReadonlyArray<DnsRecord> }
