import { createPrivateKey, X509Certificate } from "node:crypto"
import { Redacted } from "effect"
import type { Certificate } from "./Certificate.ts"

/** A problem of a certificate, and what to change. */
export interface CertificateIssue {
  readonly problem: string
  readonly fix: string
}

export interface CertificateReport {
  /** Why no TLS connection can be made with it; undefined if one can. */
  readonly unusable: CertificateIssue | undefined
  /** Why clients that verify it refuse it. */
  readonly untrusted: ReadonlyArray<CertificateIssue>
  /** Milliseconds since the Unix epoch; undefined if it can't be read. */
  readonly expiresAt: number | undefined
}

const BEGIN = "-----BEGIN CERTIFICATE-----"
const BLOCK = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g

const read = <A>(parse: () => A): A | undefined => {
  try {
    return parse()
  } catch {
    return undefined
  }
}

const unusable = (problem: string, fix: string): CertificateReport => ({
  unusable: { problem, fix },
  untrusted: [],
  expiresAt: undefined
})

const dateOf = (millis: number): string => new Date(millis).toISOString()

/**
 * Checks that a key and a certificate belong together, that the certificate is valid at a time and names a host, and that
 * each certificate of its file issued the one before it. `settingName` is that of the core.
 */
export const checkCertificate = (
  { certificate, privateKey }: Certificate,
  hostName: string,
  now: number,
  settingName: (option: string) => string = (option) => option
): CertificateReport => {
  const blocks = certificate.match(BLOCK) ?? []
  const chain = blocks.flatMap((pem) => read(() => new X509Certificate(pem)) ?? [])
  const [leaf, ...issuers] = chain
  // A file that is being written may end in the middle of a block.
  if (leaf === undefined || chain.length < certificate.split(BEGIN).length - 1)
    return unusable("the certificate can't be read", "Use a PEM file with the certificate and its chain.")
  const key = read(() => createPrivateKey(Redacted.value(privateKey)))
  if (key === undefined)
    return unusable("the private key can't be read", "Use a PEM file with a key without a passphrase.")
  if (!leaf.checkPrivateKey(key))
    return issuers.some((issuer) => issuer.checkPrivateKey(key))
      ? unusable("the certificate of the key is not the first of its file", "Put it first, and its issuers behind it.")
      : unusable("the certificate and the private key do not belong together", "Use the key for which it was issued.")

  const [from, until] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]
  const untrusted: Array<CertificateIssue> = []
  if (now < from)
    untrusted.push({
      problem: `the certificate is not valid before ${dateOf(from)}`,
      fix: "Correct the clock, or wait."
    })
  if (now > until) untrusted.push({ problem: `the certificate expired on ${dateOf(until)}`, fix: "Renew it." })
  if (leaf.checkHost(hostName) === undefined)
    untrusted.push({
      problem: `the certificate does not name ${hostName} (${leaf.subjectAltName ?? leaf.subject})`,
      fix: `Request one for that name, which is ${settingName("hostName")}.`
    })
  const unrelated = issuers.findIndex((issuer, index) => !chain[index]!.checkIssued(issuer))
  if (unrelated >= 0)
    untrusted.push({
      problem: `certificate ${unrelated + 2} of the file did not issue the one before it`,
      fix: "Order the file: the certificate first, then each issuer behind what it issued."
    })
  return { unusable: undefined, untrusted, expiresAt: until }
}
