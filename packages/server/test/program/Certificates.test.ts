import { assert, it } from "@effect/vitest"
import { generateCertificate } from "@agentos/provider-smtp"
import { Effect, Logger, Metric, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
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

interface Layout {
  /** The files of the certificate and its key, in a folder. */
  readonly files: readonly [certificate: string, key: string]
  /** The steps in which a version of them is written, one after the other. */
  readonly steps: (folder: string, version: string, pair: Pair) => ReadonlyArray<() => void>
}

/** A secret as Kubernetes mounts it: the files are links into a folder, to which a link is switched by a rename. */
const KUBERNETES: Layout = {
  files: ["tls.crt", "tls.key"],
  steps: (folder, version, { certificate, key }) => [
    () => {
      mkdirSync(join(folder, `..${version}`))
      writeFileSync(join(folder, `..${version}`, "tls.crt"), certificate)
      writeFileSync(join(folder, `..${version}`, "tls.key"), key)
    },
    () => {
      symlinkSync(`..${version}`, join(folder, "..data_tmp"))
      renameSync(join(folder, "..data_tmp"), join(folder, "..data"))
      for (const file of ["tls.crt", "tls.key"])
        if (!existsSync(join(folder, file))) symlinkSync(`..data/${file}`, join(folder, file))
    }
  ]
}

/** certbot 2.1 removes each link, and makes a new one: that of the key first. */
const CERTBOT: Layout = {
  files: ["live/fullchain.pem", "live/privkey.pem"],
  steps: (folder, version, { certificate, key }) => {
    const link = (name: string) => join(folder, "live", `${name}.pem`)
    return [
      () => {
        for (const name of ["live", "archive"]) mkdirSync(join(folder, name), { recursive: true })
        writeFileSync(join(folder, "archive", `fullchain${version}.pem`), certificate)
        writeFileSync(join(folder, "archive", `privkey${version}.pem`), key)
      },
      ...["privkey", "fullchain"].flatMap((name) => [
        () => rmSync(link(name), { force: true }),
        () => symlinkSync(`../archive/${name}${version}.pem`, link(name))
      ])
    ]
  }
}

/** lego 4.9 overwrites the files: that of the certificate first. */
const LEGO: Layout = {
  files: ["mx.crt", "mx.key"],
  steps: (folder, _, { certificate, key }) =>
    Object.entries({ "mx.crt": certificate, "mx.key": key }).flatMap(([file, text]) =>
      [text.slice(0, 100), text].map((written) => () => writeFileSync(join(folder, file), written))
    )
}

/** A certificate in files of a folder, and the list of those that the listener was given since. */
const setUp = Effect.fnUntraced(function* ({ files, steps }: Layout = KUBERNETES) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "agentos-certificate-"))),
    (created) => Effect.sync(() => rmSync(created, { recursive: true }))
  )
  const stepsOf = (version: string, pair: Pair) => steps(folder, version, pair)
  const write = (version: string, pair: Pair) => stepsOf(version, pair).forEach((step) => step())
  write("1", yield* issue())
  const [certificateFile, keyFile] = [join(folder, files[0]), join(folder, files[1])]
  const listener = { certificate: { certificateFile, keyFile }, host: "", port: 0 }
  const mail = { hostName: HOST, listener: { ...listener, sessions: 1, sessionsPerAddress: 1, messagesPerHour: 1 } }
  const given: Array<string> = []
  const configured = yield* configuredCertificate(mail)
  const read = certificateReading(mail, configured!, (tls) => Effect.sync(() => void given.push(tls.certificate)))
  return { write, stepsOf, certificateFile, keyFile, given, mail, read }
})

const warnings: Array<string> = []
const logged = Logger.layer([
  Logger.make(({ logLevel, message }) => logLevel === "Warn" && warnings.push(String(message)))
])

it.effect("takes a renewed certificate, by a switched link or by a rename, once both files are complete", () =>
  Effect.gen(function* () {
    const { certificateFile, given, keyFile, read, write } = yield* setUp()
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

for (const [name, layout] of Object.entries({ Kubernetes: KUBERNETES, certbot: CERTBOT, lego: LEGO })) {
  it.effect(`takes a certificate that ${name} renews, once the last step is done`, () =>
    Effect.gen(function* () {
      const { given, read, stepsOf } = yield* setUp(layout)
      const renewed = yield* issue()
      for (const step of stepsOf("2", renewed)) {
        yield* read
        assert.deepStrictEqual(given, [])
        step()
      }
      yield* read
      assert.deepStrictEqual(given, [renewed.certificate])
    }).pipe(Effect.provide(Logger.layer([])))
  )
}

it.effect("reports the expiry of the certificate in use, and each hour what its clients will refuse", () =>
  Effect.gen(function* () {
    warnings.length = 0
    const { read, write } = yield* setUp()
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
    const { mail, write } = yield* setUp()
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
