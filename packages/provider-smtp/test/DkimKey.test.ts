import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto"
import { Effect, Redacted } from "effect"
import { expect, it } from "vitest"
import { dkimRecord, generateDkimKey } from "../src/DkimKey.ts"

it("is an RSA key of 2048 bits, whose record contains the public half", async () => {
  const key = await Effect.runPromise(generateDkimKey("agents.test", "s1"))
  expect(key.record).toMatchObject({ name: "s1._domainkey.agents.test", type: "TXT" })
  const published = /^v=DKIM1; k=rsa; p=([A-Za-z0-9+/]+=*)$/.exec(key.record.value)?.[1] ?? ""
  const publicKey = createPublicKey({ key: Buffer.from(published, "base64"), format: "der", type: "spki" })
  expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048)
  expect(publicKey.equals(createPublicKey(createPrivateKey(Redacted.value(key.privateKey))))).toBe(true)
})

it("does not reveal its private half, and gives the same record when read again", async () => {
  const key = await Effect.runPromise(generateDkimKey("agents.test", "s1"))
  expect(JSON.stringify(key)).not.toContain("PRIVATE")
  expect(dkimRecord("agents.test", "s1", key.privateKey)).toEqual(key.record)
})

it("must be an RSA key", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const pem = Redacted.make(privateKey.export({ type: "pkcs8", format: "pem" }).toString())
  expect(() => dkimRecord("agents.test", "s1", pem)).toThrow(/RSA/)
})
