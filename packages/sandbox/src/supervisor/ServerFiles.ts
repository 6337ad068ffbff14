import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { readFileIfAny, replaceFile } from "../chain/AtomicFile.ts"

/** What the server is given as files, and its key ring. */
export interface ServerFiles {
  /** As the server takes it: `1:secret`. */
  readonly keyRing: string
  readonly dkimKeyFile: string
  /** Signs mail that plays the outside world. */
  readonly outsideDkimKeyFile: string
  readonly smtpKeyFile: string
  readonly smtpCertificateFile: string
  readonly zoneFile: string
}

export const dkimSelector = "sandbox"

/** The domain of mail that plays the outside world (RFC 2606): its senders pass SPF, DKIM and DMARC. */
export const outsideDomain = "outside.example"

/** Makes what is missing: once, so that tokens, signatures and the certificate outlive a run. */
export const prepareServerFiles = async (directory: string, emailDomain: string): Promise<ServerFiles> => {
  const path = (name: string) => join(directory, name)
  const [keyRing, dkimKey, outsideDkimKey] = await Promise.all([
    keepOnce(path("keyring"), async () => `1:${randomBytes(32).toString("base64")}`),
    keepOnce(path("dkim.pem"), () => makeDkimKey(emailDomain)),
    keepOnce(path("outside-dkim.pem"), () => makeDkimKey(outsideDomain)),
    keepOnce(path("smtp.pem"), () => makeCertificate(emailDomain))
  ])
  // Written at each start: data of an older version has a zone with fewer domains.
  await replaceFile(
    path("zone.json"),
    await makeZone({ [emailDomain]: dkimKey, [outsideDomain]: outsideDkimKey }),
    0o600
  )
  return {
    keyRing,
    dkimKeyFile: path("dkim.pem"),
    outsideDkimKeyFile: path("outside-dkim.pem"),
    // One file holds both, so that a start that is cut short leaves no key without its certificate.
    smtpKeyFile: path("smtp.pem"),
    smtpCertificateFile: path("smtp.pem"),
    zoneFile: path("zone.json")
  }
}

/** What a file holds; it is made first where there is none. */
export const keepOnce = async (path: string, make: () => Promise<string>): Promise<string> => {
  const kept = await readFileIfAny(path)
  if (kept !== undefined) return kept.toString()
  const made = await make()
  await replaceFile(path, made, 0o600)
  return made
}

// Only the first start needs what makes these, and it takes a moment to load.

const makeDkimKey = async (domain: string): Promise<string> => {
  const [{ generateDkimKey }, { Effect, Redacted }] = await Promise.all([
    import("@agentos/provider-smtp/DkimKey"),
    import("effect")
  ])
  const { privateKey } = await Effect.runPromise(generateDkimKey(domain, dkimSelector))
  return Redacted.value(privateKey)
}

const makeCertificate = async (domain: string): Promise<string> => {
  const [{ generateCertificate }, { Effect, Redacted }] = await Promise.all([
    import("@agentos/provider-smtp/Certificate"),
    import("effect")
  ])
  const made = await Effect.runPromise(generateCertificate(domain))
  return `${Redacted.value(made.privateKey).trim()}\n${made.certificate.trim()}\n`
}

/** The whole of DNS, as far as the sandbox goes: the records of each domain, whose mail is signed with the key given. */
const makeZone = async (dkimKeys: Readonly<Record<string, string>>): Promise<string> => {
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
