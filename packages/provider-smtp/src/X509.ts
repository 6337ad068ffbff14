/// <reference types="node" preserve="true" />
import { randomBytes, sign, type KeyObject } from "node:crypto"
import { AsnConvert, OctetString } from "@peculiar/asn1-schema"
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  Extension,
  Extensions,
  GeneralName,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
  id_ce_subjectAltName
} from "@peculiar/asn1-x509"

/**
 * Issues X.509 certificates with P-256 keys. The ASN.1 types are from @peculiar/asn1-x509, which mailauth depends on too.
 * @peculiar/x509 would be shorter to use, but loads three times as slowly and requires a global Reflect polyfill.
 */
export interface CertificateOptions {
  /** The common name. Longer names are cut, see RFC 5280, appendix A.1. */
  readonly subject: string
  readonly publicKey: KeyObject
  readonly issuer: { readonly name: string; readonly privateKey: KeyObject }
  /** Milliseconds since the Unix epoch. The certificate is valid from a day earlier, since clocks differ. */
  readonly now: number
  readonly extensions: ReadonlyArray<Extension>
}

const VALID_DAYS = 3650
const DAY_MILLIS = 86_400_000
const COMMON_NAME_LIMIT = 64
const ECDSA_WITH_SHA256 = new AlgorithmIdentifier({ algorithm: "1.2.840.10045.4.3.2" })
const COMMON_NAME = "2.5.4.3"

/** Issues a certificate of version 3 (RFC 5280) that is valid for ten years. Returns it as PEM. */
export const issueCertificate = ({ extensions, issuer, now, publicKey, subject }: CertificateOptions): string => {
  const serialNumber = randomBytes(16)
  // Positive, and without superfluous leading zeros.
  serialNumber[0] = (serialNumber[0]! & 0x7f) | 0x40
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: toArrayBuffer(serialNumber),
    signature: ECDSA_WITH_SHA256,
    issuer: commonName(issuer.name),
    validity: new Validity({
      notBefore: new Date(now - DAY_MILLIS),
      notAfter: new Date(now + VALID_DAYS * DAY_MILLIS)
    }),
    subject: commonName(subject),
    subjectPublicKeyInfo: AsnConvert.parse(publicKey.export({ type: "spki", format: "der" }), SubjectPublicKeyInfo),
    extensions: new Extensions([...extensions])
  })
  const signatureValue = sign("sha256", Buffer.from(AsnConvert.serialize(tbsCertificate)), issuer.privateKey)
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: ECDSA_WITH_SHA256,
    signatureValue: toArrayBuffer(signatureValue)
  })
  const encoded = Buffer.from(AsnConvert.serialize(certificate)).toString("base64")
  return `-----BEGIN CERTIFICATE-----\n${encoded.replace(/.{64}/g, "$&\n").trimEnd()}\n-----END CERTIFICATE-----\n`
}

/** Creates an extension from an ASN.1 value. */
export const extension = (id: string, value: object, critical = false): Extension =>
  new Extension({ extnID: id, critical, extnValue: new OctetString(AsnConvert.serialize(value)) })

/** Creates the extension that lists host names and IP addresses. */
export const subjectAltName = (hostNames: ReadonlyArray<string>, addresses: ReadonlyArray<string> = []): Extension =>
  extension(
    id_ce_subjectAltName,
    new SubjectAlternativeName([
      ...hostNames.map((dNSName) => new GeneralName({ dNSName })),
      ...addresses.map((iPAddress) => new GeneralName({ iPAddress }))
    ])
  )

const commonName = (text: string): Name => {
  const value = new AttributeValue({ utf8String: text.slice(0, COMMON_NAME_LIMIT) })
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])])
}

const toArrayBuffer = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer
