import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign
} from "node:crypto"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { readFileIfAny, replaceFile } from "../chain/AtomicFile.ts"
import { bitString, der, integer, octetString, oid, sequence, time, utf8String, yes } from "./Der.ts"

/** A server's key and certificate, and where the authority's own certificate is, all PEM. */
export interface ServerCertificate {
  readonly privateKey: string
  readonly certificate: string
  /** The file that a client has to trust. */
  readonly caFile: string
}

const dayMillis = 86_400_000
const validDays = 3_650

/** Names that a certificate of the sandbox is for, and no others: the authority may sign none but these. */
const hostName = "localhost"
const addresses = ["127.0.0.1", "::1"] as const

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"))
const extension = (identifier: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(oid(identifier), ...(isCritical ? [yes] : []), octetString(value))

/** RFC 5280, section 4.2.1.2: the hash of the key's bits. */
const keyIdentifier = (key: KeyObject): Buffer => {
  const point = key.export({ type: "spki", format: "der" }).subarray(-65)
  return createHash("sha1").update(point).digest()
}

const addressBytes = (address: string): Buffer =>
  address.includes(":") ? Buffer.from([...Array<number>(15).fill(0), 1]) : Buffer.from(address.split(".").map(Number))
const dnsName = der(0x82, Buffer.from(hostName))

/** The extensions of an authority that signs certificates for this machine's own names alone. */
const authorityExtensions = (publicKey: KeyObject): ReadonlyArray<Buffer> => {
  const own = [
    sequence(dnsName),
    ...addresses.map((address) => {
      const bytes = addressBytes(address)
      return sequence(der(0x87, bytes, Buffer.alloc(bytes.length, 0xff)))
    })
  ]
  return [
    extension("551d13", true, sequence(yes)),
    // keyCertSign.
    extension("551d0f", true, bitString(Buffer.from([0x04]), 2)),
    extension("551d0e", false, octetString(keyIdentifier(publicKey))),
    extension("551d1e", true, sequence(der(0xa0, ...own)))
  ]
}

const serverExtensions = (publicKey: KeyObject, issuerKey: KeyObject): ReadonlyArray<Buffer> => [
  extension("551d13", true, sequence()),
  // digitalSignature.
  extension("551d0f", true, bitString(Buffer.from([0x80]), 7)),
  // serverAuth.
  extension("551d25", false, sequence(oid("2b06010505070301"))),
  extension("551d0e", false, octetString(keyIdentifier(publicKey))),
  extension("551d23", false, sequence(der(0x80, keyIdentifier(issuerKey)))),
  extension("551d11", false, sequence(dnsName, ...addresses.map((address) => der(0x87, addressBytes(address)))))
]

const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(oid("550403"), utf8String(text))))
const authorityName = nameOf("AgentOS sandbox authority")

/** A certificate of version 3 (RFC 5280, section 4.1), PEM. */
const certify = (
  subject: Buffer,
  publicKey: KeyObject,
  signingKey: KeyObject,
  extensions: ReadonlyArray<Buffer>
): string => {
  const serial = randomBytes(16)
  // Positive, and with no more leading zeros than one.
  serial[0] = (serial[0]! & 0x7f) | 0x40
  const now = Date.now()
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    authorityName,
    // A day early: clocks differ.
    sequence(time(now - dayMillis), time(now + validDays * dayMillis)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions))
  )
  const encoded = sequence(body, ecdsaWithSha256, bitString(sign("sha256", body, signingKey))).toString("base64")
  return `-----BEGIN CERTIFICATE-----\n${encoded.replace(/.{64}/g, "$&\n").trimEnd()}\n-----END CERTIFICATE-----\n`
}

const pem = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString()
const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" })

/**
 * Opens the sandbox's certificate authority in a directory, where it makes one when there is none: a key, which stays
 * there, and `ca.pem`, which clients are told to trust. Answers a new certificate for a server on this machine
 * (localhost, 127.0.0.1, ::1).
 */
export const openCertificateAuthority = async (directory: string): Promise<ServerCertificate> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const [keyFile, caFile] = [join(directory, "ca-key.pem"), join(directory, "ca.pem")]
  const kept = await readFileIfAny(keyFile)
  const authority = kept === undefined ? newKey().privateKey : createPrivateKey(kept)
  const authorityKey = createPublicKey(authority)
  if (kept === undefined) await replaceFile(keyFile, pem(authority), 0o600)
  // The key is there before the certificate: a process that ends in between leaves one to be certified.
  if ((await readFileIfAny(caFile)) === undefined) {
    await replaceFile(caFile, certify(authorityName, authorityKey, authority, authorityExtensions(authorityKey)))
  }
  const { privateKey, publicKey } = newKey()
  return {
    privateKey: pem(privateKey),
    certificate: certify(nameOf(hostName), publicKey, authority, serverExtensions(publicKey, authorityKey)),
    caFile
  }
}
