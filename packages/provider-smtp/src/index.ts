export * from "./DkimKey.ts"
export * from "./DnsRecord.ts"
export * as EmailProviderSmtp from "./EmailProviderSmtp.ts"
