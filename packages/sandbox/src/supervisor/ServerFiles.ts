import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { readOrCreateFile, replaceFile } from "../shared/AtomicFile.ts"

/** The files and the keyring in the server's configuration. */
export interface ServerFiles {
  /** In the format of AGENTOS_KEYS: `1:secret`. */
  readonly keyRing: string
  readonly dkimKeyFile: string
  /** Signs mail from the external test domain. */
  readonly outsideDkimKeyFile: string
  readonly smtpKeyFile: string
  readonly smtpCertificateFile: string
  readonly zoneFile: string
}

export const dkimSelector = "sandbox"

/** The external test domain (RFC 2606). Its mail passes SPF, DKIM and DMARC. */
export const outsideDomain = "outside.example"

/** Creates the missing files once, so that tokens, signatures and the certificate stay valid in later runs. */
export const prepareServerFiles = async (directory: string, emailDomain: string): Promise<ServerFiles> => {
  const path = (name: string) => join(directory, name)
  const [keyRing, dkimKey, outsideDkimKey] = await Promise.all([
    readOrCreateFile(path("keyring"), async () => `1:${randomBytes(32).toString("base64")}`),
    readOrCreateFile(path("dkim.pem"), () => createDkimKey(emailDomain)),
    readOrCreateFile(path("outside-dkim.pem"), () => createDkimKey(outsideDomain)),
    readOrCreateFile(path("smtp.pem"), () => createCertificate(emailDomain))
  ])
  // Written at each start, because the zone of an older version has fewer domains.
  await replaceFile(
    path("zone.json"),
    await createZone({ [emailDomain]: dkimKey, [outsideDomain]: outsideDkimKey }),
    0o600
  )
  return {
    keyRing,
    dkimKeyFile: path("dkim.pem"),
    outsideDkimKeyFile: path("outside-dkim.pem"),
    // One file holds both, so that an interrupted start leaves no key without its certificate.
    smtpKeyFile: path("smtp.pem"),
    smtpCertificateFile: path("smtp.pem"),
    zoneFile: path("zone.json")
  }
}

// Imported on demand, because only the first start needs these modules and they are slow to load.

const createDkimKey = async (domain: string): Promise<string> => {
  const [{ generateDkimKey }, { Effect, Redacted }] = await Promise.all([
    import("@agentos/provider-smtp/DkimKey"),
    import("effect")
  ])
  const { privateKey } = await Effect.runPromise(generateDkimKey(domain, dkimSelector))
  return Redacted.value(privateKey)
}

const createCertificate = async (domain: string): Promise<string> => {
  const [{ generateCertificate }, { Effect, Redacted }] = await Promise.all([
    import("@agentos/provider-smtp/Certificate"),
    import("effect")
  ])
  const made = await Effect.runPromise(generateCertificate(domain))
  return `${Redacted.value(made.privateKey).trim()}\n${made.certificate.trim()}\n`
}

/** Returns the DNS zone of the sandbox: the records of each domain, with its DKIM key. */
const createZone = async (dkimKeys: Readonly<Record<string, string>>): Promise<string> => {
  const [{ dkimRecord }, { Redacted }] = await Promise.all([import("@agentos/provider-smtp/DkimKey"), import("effect")])
  const records = Object.entries(dkimKeys).flatMap(([domain, dkimKey]) => [
    { name: domain, type: "A", value: "127.0.0.1" },
    { name: domain, type: "MX", value: `10 ${domain}` },
    { name: domain, type: "TXT", value: "v=spf1 ip4:127.0.0.1 -all" },
    { name: `_dmarc.${domain}`, type: "TXT", value: "v=DMARC1; p=reject" },
    dkimRecord(domain, dkimSelector, Redacted.make(dkimKey))
  ])
  return `${JSON.stringify(records, undefined, 2)}\n`
}
