import { generateKeyPairSync } from "node:crypto"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { checkCertificate } from "../src/CertificateCheck.ts"
import { issueCertificate, subjectAltName } from "../src/X509.ts"

const NOW = Date.UTC(2026, 10, 5)
const DAY = 86_400_000

const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" })
const [authority, server, other] = [pair(), pair(), pair()]

const issue = (subject: string, { publicKey }: typeof server, issuer = authority, name = "Authority") =>
  issueCertificate({
    subject,
    publicKey,
    issuer: { name, privateKey: issuer.privateKey },
    now: NOW,
    extensions: [subjectAltName([subject])]
  })

const leaf = issue("mx.agents.example", server)
const root = issue("Authority", authority)

const check = (certificate: string, { now = NOW, host = "mx.agents.example", key = server } = {}) =>
  checkCertificate(
    { certificate, privateKey: Redacted.make(key.privateKey.export({ type: "pkcs8", format: "pem" }).toString()) },
    host,
    now
  )
const untrusted = (...options: Parameters<typeof check>) => check(...options).untrusted.map(({ problem }) => problem)

describe("the check of a certificate", () => {
  it("finds nothing wrong with one that names its host, with its chain", () => {
    expect(check(`${leaf}${root}`)).toEqual({ unusable: undefined, untrusted: [], expiresAt: NOW + 3_650 * DAY })
  })

  it("finds that no TLS connection can be made with it", () => {
    const problem = (...options: Parameters<typeof check>) => check(...options).unusable?.problem
    expect(problem(leaf, { key: other })).toBe("the certificate and the private key do not belong together")
    expect(problem(`${root}${leaf}`)).toBe("the certificate of the key is not the first of its file")
    expect(problem("")).toBe("the certificate can't be read")
    expect(problem(`${leaf}${root.replace("MII", "AAA")}`)).toBe("the certificate can't be read")
    expect(
      checkCertificate({ certificate: leaf, privateKey: Redacted.make("no key") }, "", NOW).unusable?.problem
    ).toBe("the private key can't be read")
  })

  it("finds what clients that verify it refuse", () => {
    expect(untrusted(leaf, { now: NOW + 3_651 * DAY })).toEqual(["the certificate expired on 2036-11-02T00:00:00.000Z"])
    expect(untrusted(leaf, { now: NOW - 2 * DAY })).toEqual([
      "the certificate is not valid before 2026-11-04T00:00:00.000Z"
    ])
    expect(untrusted(leaf, { host: "agents.example" })).toEqual([
      "the certificate does not name agents.example (DNS:mx.agents.example)"
    ])
    const stranger = issue("Stranger", other, other, "Stranger")
    expect(untrusted(`${leaf}${stranger}${root}`)).toEqual([
      "certificate 2 of the file did not issue the one before it"
    ])
  })
})
