import { createPrivateKey, createPublicKey, generateKeyPair } from "node:crypto"
import { promisify } from "node:util"
import { Effect, Redacted } from "effect"
import type { DnsRecord } from "./SenderDns.ts"

/** RFC 8301, section 3.2: signers use keys of at least 2048 bits; longer ones no longer fit into one DNS response. */
const MODULUS_BITS = 2048

const generateRsa = promisify(generateKeyPair)

/** A key that signs outgoing mail, with the DNS record with which receivers verify it. */
export interface DkimKey {
  /** PKCS #8, PEM. */
  readonly privateKey: Redacted.Redacted
  /**
   * The TXT record at `<selector>._domainkey.<domain>`. Its value is longer than the 255 bytes of one string: a
   * zone file writes it as several strings, which readers join (RFC 6376, section 3.6.2.2).
   */
  readonly record: DnsRecord
}

/** Makes a new RSA key of 2048 bits for a domain. `selector` is a DNS label such as `s1`. */
export const generateDkimKey = (domain: string, selector: string): Effect.Effect<DkimKey> =>
  Effect.map(
    Effect.promise(() => generateRsa("rsa", { modulusLength: MODULUS_BITS })),
    ({ privateKey }) => {
      const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString()
      return { privateKey: Redacted.make(pem), record: dkimRecord(domain, selector, Redacted.make(pem)) }
    }
  )

/** Returns the DNS record of an existing key (PEM, RSA). Throws on any other key. */
export const dkimRecord = (domain: string, selector: string, privateKey: Redacted.Redacted): DnsRecord => {
  const publicKey = createPublicKey(createPrivateKey(Redacted.value(privateKey)))
  if (publicKey.asymmetricKeyType !== "rsa") throw new TypeError("a DKIM key is an RSA key")
  const spki = publicKey.export({ type: "spki", format: "der" }).toString("base64")
  return { name: `${selector}._domainkey.${domain}`, type: "TXT", value: `v=DKIM1; k=rsa; p=${spki}` }
}
