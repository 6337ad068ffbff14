import { createPrivateKey, X509Certificate } from "node:crypto"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "@effect/vitest"
import { generateCertificate } from "../src/Certificate.ts"

describe("a certificate", () => {
  it.effect("is for its host, signed by its own key, and valid from now for ten years", () =>
    Effect.gen(function* () {
      const now = Date.UTC(2026, 10, 5)
      yield* TestClock.setTime(now)
      const made = yield* generateCertificate("mx.agents.test")
      const certificate = new X509Certificate(made.certificate)
      expect(certificate.checkHost("mx.agents.test")).toBe("mx.agents.test")
      expect(certificate.checkHost("agents.test")).toBeUndefined()
      expect(certificate.subject).toBe("CN=mx.agents.test")
      expect(certificate.verify(certificate.publicKey)).toBe(true)
      expect(certificate.checkPrivateKey(createPrivateKey(Redacted.value(made.privateKey)))).toBe(true)
      expect(certificate.ca).toBe(false)
      expect(certificate.validFromDate.getTime()).toBe(now - 86_400_000)
      expect(certificate.validToDate.getTime()).toBe(now + 3650 * 86_400_000)
    })
  )

  it.effect("is valid beyond 2050, and has a unique serial number", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2045, 0, 1))
      const made = yield* Effect.all(Array.from({ length: 20 }, () => generateCertificate("a.test")))
      const certificates = made.map(({ certificate }) => new X509Certificate(certificate))
      expect(new Set(certificates.map(({ serialNumber }) => serialNumber)).size).toBe(20)
      expect(certificates[0]?.validToDate.getUTCFullYear()).toBe(2054)
    })
  )

  it.effect("may have a long host name", () =>
    Effect.gen(function* () {
      const host = `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.test`
      const made = yield* generateCertificate(host)
      expect(new X509Certificate(made.certificate).checkHost(host)).toBe(host)
    })
  )
})
