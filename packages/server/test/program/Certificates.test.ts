import { assert, it } from "@effect/vitest"
import { generateCertificate } from "@agentos/provider-smtp"
import { Effect, Logger, Metric, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ServerConfig } from "../../src/config/ServerConfig.ts"
import { hostConditions } from "../../src/program/HostConditions.ts"
import { certificateReading, configuredCertificate } from "../../src/program/MailIntake.ts"

const HOST = "mx.agents.example"
const DAY_SECONDS = 86_400

const issue = (host = HOST) =>
  Effect.map(generateCertificate(host), ({ certificate, privateKey }) => ({
    certificate,
    key: Redacted.value(privateKey)
  }))

type Pair = Effect.Success<ReturnType<typeof issue>>

/** A certificate in two files of a folder, the list of those that the listener was given since, and the warnings. */
const setUp = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "agentos-certificate-"))),
    (created) => Effect.sync(() => rmSync(created, { recursive: true }))
  )
  /** Writes a version of the files as Kubernetes mounts it: `current` is a link to a folder with both. */
  const write = (name: string, { certificate, key }: Pair) => {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, "tls.crt"), certificate)
    writeFileSync(join(folder, name, "tls.key"), key)
    symlinkSync(name, join(folder, "next"))
    renameSync(join(folder, "next"), join(folder, "current"))
  }
  write("1", yield* issue())
  const [certificateFile, keyFile] = [join(folder, "current", "tls.crt"), join(folder, "current", "tls.key")]
  const listener = { certificate: { certificateFile, keyFile }, host: "", port: 0 }
  const mail = { hostName: HOST, listener: { ...listener, sessions: 1, sessionsPerAddress: 1, messagesPerHour: 1 } }
  const given: Array<string> = []
  const configured = yield* configuredCertificate(mail)
  const read = certificateReading(mail, configured!, (tls) => Effect.sync(() => void given.push(tls.certificate)))
  return { write, certificateFile, keyFile, given, mail, read }
})

const warnings: Array<string> = []
const logged = Logger.layer([
  Logger.make(({ logLevel, message }) => logLevel === "Warn" && warnings.push(String(message)))
])

it.effect("takes a renewed certificate, by a switched link or by a rename, once both files are complete", () =>
  Effect.gen(function* () {
    const { certificateFile, given, keyFile, read, write } = yield* setUp
    yield* read
    assert.deepStrictEqual(given, [])
    const [linked, renamed] = [yield* issue(), yield* issue()]
    write("2", linked)
    yield* read
    yield* read
    assert.deepStrictEqual(given, [linked.certificate])

    const half = renamed.certificate.slice(0, 200)
    for (const [file, text] of [
      [certificateFile, `${linked.certificate}${half}`],
      [certificateFile, renamed.certificate]
    ] as const) {
      writeFileSync(`${file}.new`, text)
      renameSync(`${file}.new`, file)
      yield* read
      yield* read
      assert.strictEqual(given.length, 1)
    }
    assert.deepStrictEqual(
      warnings.map((warning) => /: the (.*?)\. [A-Z]/.exec(warning)?.[1]),
      ["certificate can't be read", "certificate and the private key do not belong together"]
    )
    rmSync(keyFile)
    yield* read
    assert.include(warnings[2], "cannot read")
    writeFileSync(keyFile, renamed.key)
    yield* read
    assert.deepStrictEqual(given, [linked.certificate, renamed.certificate])
  }).pipe(Effect.provide(logged))
)

it.effect("reports the expiry of the certificate in use, and each hour what its clients will refuse", () =>
  Effect.gen(function* () {
    warnings.length = 0
    const { read, write } = yield* setUp
    write("2", yield* issue("other.example"))
    yield* read
    assert.strictEqual(warnings.length, 1)
    assert.include(warnings[0], `does not name ${HOST}`)
    const expiry = (yield* Metric.snapshot).find(({ id }) => id === "agentos_certificate_expiry_timestamp_seconds")
    assert.deepInclude(expiry?.state, { value: 3_650 * DAY_SECONDS })
    yield* TestClock.adjust("4000 days")
    for (let reading = 2; reading < 60; reading++) yield* read
    assert.strictEqual(warnings.length, 1)
    yield* read
    assert.include(warnings[1], "the certificate expired on")
  }).pipe(Effect.provide(logged))
)

it.effect("is an incident from two weeks before it expires until it is renewed", () =>
  Effect.gen(function* () {
    const { mail, write } = yield* setUp
    const { expiresAt } = (yield* configuredCertificate(mail))!.report
    const config = { mail: { ...mail, hostName: "another.example" }, networks: [] } as unknown as ServerConfig
    const [, certificates] = yield* hostConditions(config)
    const found = Effect.map(certificates!.find, (conditions) => conditions.map(({ summary }) => summary))
    const at = (days: number) => Effect.andThen(TestClock.setTime(expiresAt! + days * DAY_SECONDS * 1_000), found)
    const day = new Date(expiresAt!).toISOString()
    assert.deepStrictEqual(yield* at(-15), [])
    assert.deepStrictEqual(yield* at(-13), [`The certificate of the SMTP listener expires on ${day}.`])
    assert.deepStrictEqual(yield* at(1), [`The certificate of the SMTP listener expired on ${day}.`])
    write("2", yield* issue())
    assert.deepStrictEqual(yield* at(2), [])
  })
)
