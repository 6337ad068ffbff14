import { generateKeyPair, type KeyObject, randomBytes, sign } from "node:crypto"
import { promisify } from "node:util"
import { Clock, Effect, Redacted } from "effect"

/** A private key and its certificate, both PEM. */
export interface Certificate {
  readonly privateKey: Redacted.Redacted
  readonly certificate: string
}

const VALID_DAYS = 3650
const DAY_MILLIS = 86_400_000

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
    const encoded = certificate(hostName, now, privateKey, publicKey)
    return {
      privateKey: Redacted.make(privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
      certificate: `-----BEGIN CERTIFICATE-----\n${encoded
        .toString("base64")
        .replace(/.{64}/g, "$&\n")
        .trimEnd()}\n-----END CERTIFICATE-----\n`
    }
  })

/** Encodes a value in DER (X.690): its tag, the length of its contents, its contents. */
const der = (tag: number, ...contents: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(contents)
  const length: Array<number> = []
  for (let rest = content.length; rest > 0; rest >>= 8) length.unshift(rest & 0xff)
  const head = content.length < 0x80 ? [content.length] : [0x80 | length.length, ...length]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

const sequence = (...items: ReadonlyArray<Uint8Array>) => der(0x30, ...items)
const bitString = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes)
/** Encodes an object identifier. */
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"))
const ECDSA_WITH_SHA256 = sequence(oid("2a8648ce3d040302"))
const COMMON_NAME = oid("550403")
const SUBJECT_ALT_NAME = oid("551d11")
const BASIC_CONSTRAINTS = oid("551d13")
const TRUE = der(0x01, Buffer.from([0xff]))

/** RFC 5280, appendix A.1. */
const COMMON_NAME_LIMIT = 64

/** RFC 5280, section 4.1.2.5: two digits of the year to 2049, four from 2050. */
const time = (millis: number): Buffer => {
  const text = new Date(millis).toISOString().replace(/[-:T]|\.\d+/g, "")
  return text < "2050" ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text))
}

/** Makes a certificate of version 3 (RFC 5280, section 4.1). */
const certificate = (hostName: string, now: number, privateKey: KeyObject, publicKey: KeyObject): Buffer => {
  const serial = randomBytes(16)
  // Positive, and without superfluous leading zeros.
  serial[0] = (serial[0]! & 0x7f) | 0x40
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(hostName.slice(0, COMMON_NAME_LIMIT))))))
  const extensions = sequence(
    sequence(BASIC_CONSTRAINTS, TRUE, der(0x04, sequence())),
    sequence(SUBJECT_ALT_NAME, der(0x04, sequence(der(0x82, Buffer.from(hostName)))))
  )
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    name,
    // Valid from a day earlier, since clocks differ.
    sequence(time(now - DAY_MILLIS), time(now + VALID_DAYS * DAY_MILLIS)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions)
  )
  return sequence(body, ECDSA_WITH_SHA256, bitString(sign("sha256", body, privateKey)))
}
