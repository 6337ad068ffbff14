/// <reference types="node" preserve="true" />
export * from "./Certificate.ts"
export * from "./CertificateCheck.ts"
export * from "./DkimKey.ts"
export * as EmailProviderSmtp from "./EmailProviderSmtp.ts"
export * as MailParserWorker from "./MailParserWorker.ts"
export * as SmtpListener from "./SmtpListener.ts"
export * from "./SenderDns.ts"
export { type Lookup, openLookup } from "./parser/SenderResolver.ts"
