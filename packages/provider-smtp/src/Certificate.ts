import { generateKeyPair } from "node:crypto"
import { promisify } from "node:util"
import { Clock, Effect, Redacted } from "effect"

/** A private key and its certificate, both PEM. */
export interface Certificate {
  readonly privateKey: Redacted.Redacted
  readonly certificate: string
}

const generateEc = promisify(generateKeyPair)

/**
 * Makes a P-256 key and a self-signed certificate for a host name (ASCII). It is sufficient for STARTTLS
 * between mail servers, which encrypt without authenticating the server (RFC 7435), and for a sandbox. It is
 * valid for ten years, so it is made once and stored.
 */
export const generateCertificate = (hostName: string): Effect.Effect<Certificate> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { privateKey, publicKey } = yield* Effect.promise(() => generateEc("ec", { namedCurve: "P-256" }))
    // Imported on demand: a server with a configured certificate does not need the modules, whose import takes 60 ms.
    const [{ extension, issueCertificate, subjectAltName }, { BasicConstraints, id_ce_basicConstraints }] =
      yield* Effect.promise(() => Promise.all([import("./X509.ts"), import("@peculiar/asn1-x509")]))
    return {
      privateKey: Redacted.make(privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
      certificate: issueCertificate({
        subject: hostName,
        publicKey,
        issuer: { name: hostName, privateKey },
        now,
        extensions: [extension(id_ce_basicConstraints, new BasicConstraints(), true), subjectAltName([hostName])]
      })
    }
  })
