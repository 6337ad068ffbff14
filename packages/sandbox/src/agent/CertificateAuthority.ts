import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { readFileIfExists, readOrCreateFile, replaceFile } from "../shared/AtomicFile.ts"

/** The PEM key and certificate of a server. */
export interface ServerCertificate {
  readonly privateKey: string
  readonly certificate: string
  /** The PEM file of the certificate authority that clients must trust. */
  readonly caFile: string
}

const authorityName = "AgentOS sandbox authority"
/** The only names for which the authority can issue certificates. */
const hostName = "localhost"
const addresses = ["127.0.0.1", "::1"]

/**
 * Opens the certificate authority of a directory and returns a certificate for servers on this machine (localhost,
 * 127.0.0.1, ::1). Missing files are created: the authority's key and its certificate `ca.pem`, and the server's key and
 * certificate.
 */
export const openCertificateAuthority = async (directory: string): Promise<ServerCertificate> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const [keyFile, caFile] = [join(directory, "ca-key.pem"), join(directory, "ca.pem")]
  // The key is written first: if the process ends before the certificate is written, the next one issues it.
  const authority = createPrivateKey(await readOrCreateFile(keyFile, async () => toPem(generateKey().privateKey)))
  if ((await readFileIfExists(caFile)) === undefined) await replaceFile(caFile, await issueAuthority(authority))
  // One file holds both, so that an interrupted start leaves no key without its certificate.
  const server = await readOrCreateFile(join(directory, "server.pem"), () => issueServer(authority))
  const end = server.indexOf("-----BEGIN CERTIFICATE-----")
  return { privateKey: server.slice(0, end), certificate: server.slice(end), caFile }
}

// The modules are imported on demand: only the first start needs them, and their import takes 60 ms and 12 MB.
const loadX509 = async () => ({
  ...(await import("@agentos/provider-smtp/X509")),
  types: await import("@peculiar/asn1-x509")
})

const issueAuthority = async (authority: KeyObject): Promise<string> => {
  const { extension, issueCertificate, types } = await loadX509()
  const permitted = [
    new types.GeneralName({ dNSName: hostName }),
    ...addresses.map((address) => {
      return new types.GeneralName({ iPAddress: `${address}/${address.includes(":") ? 128 : 32}` })
    })
  ]
  const permittedSubtrees = new types.GeneralSubtrees(permitted.map((base) => new types.GeneralSubtree({ base })))
  const publicKey = createPublicKey(authority)
  return issueCertificate({
    subject: authorityName,
    publicKey,
    issuer: { name: authorityName, privateKey: authority },
    now: Date.now(),
    extensions: [
      extension(types.id_ce_basicConstraints, new types.BasicConstraints({ cA: true }), true),
      extension(types.id_ce_keyUsage, new types.KeyUsage(types.KeyUsageFlags.keyCertSign), true),
      extension(types.id_ce_subjectKeyIdentifier, new types.SubjectKeyIdentifier(keyIdentifier(publicKey))),
      extension(types.id_ce_nameConstraints, new types.NameConstraints({ permittedSubtrees }), true)
    ]
  })
}

const issueServer = async (authority: KeyObject): Promise<string> => {
  const { extension, issueCertificate, subjectAltName, types } = await loadX509()
  const { privateKey, publicKey } = generateKey()
  const authorityKeyIdentifier = new types.AuthorityKeyIdentifier({
    keyIdentifier: new types.KeyIdentifier(keyIdentifier(createPublicKey(authority)))
  })
  const certificate = issueCertificate({
    subject: hostName,
    publicKey,
    issuer: { name: authorityName, privateKey: authority },
    now: Date.now(),
    extensions: [
      extension(types.id_ce_basicConstraints, new types.BasicConstraints(), true),
      extension(types.id_ce_keyUsage, new types.KeyUsage(types.KeyUsageFlags.digitalSignature), true),
      extension(types.id_ce_extKeyUsage, new types.ExtendedKeyUsage([types.id_kp_serverAuth])),
      extension(types.id_ce_subjectKeyIdentifier, new types.SubjectKeyIdentifier(keyIdentifier(publicKey))),
      extension(types.id_ce_authorityKeyIdentifier, authorityKeyIdentifier),
      subjectAltName([hostName], addresses)
    ]
  })
  return `${toPem(privateKey)}${certificate}`
}

const generateKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" })

const toPem = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString()

/** Returns the hash of the public key's bits (RFC 5280, section 4.2.1.2). */
const keyIdentifier = (key: KeyObject): Uint8Array => {
  const point = key.export({ type: "spki", format: "der" }).subarray(-65)
  return new Uint8Array(createHash("sha1").update(point).digest())
}
