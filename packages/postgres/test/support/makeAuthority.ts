import { execFile, execFileSync } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect, type Scope } from "effect"

const run = promisify(execFile)

export const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

/** Files of a certificate and its private key. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** An authority that issues certificates, with the files of its own. */
export interface Authority extends CertificateFiles {
  /** Issues a certificate for the common name, and for these names of hosts (`DNS:…`, `IP:…`). */
  readonly issue: (commonName: string, ...hosts: ReadonlyArray<string>) => Promise<CertificateFiles>
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
const VALID = ["-days", "2"]

/** Makes an authority with openssl. Its files are deleted when the scope closes. */
export const makeAuthority = (name: string): Effect.Effect<Authority, never, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "agentos-authority-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true }))
    )
    const filesOf = (file: string): CertificateFiles => ({
      certificate: join(directory, `${file}.crt`),
      key: join(directory, `${file}.key`)
    })
    const authority = filesOf("authority")
    const subject = ["-subj", `/CN=${name}`]
    const out = ({ certificate, key }: CertificateFiles) => ["-out", certificate, "-keyout", key]
    yield* Effect.promise(() => run("openssl", ["req", "-x509", ...KEY, ...VALID, ...subject, ...out(authority)]))
    let issued = 0
    return {
      ...authority,
      issue: async (commonName, ...hosts) => {
        const files = filesOf(`issued-${++issued}`)
        const request = join(directory, `issued-${issued}.csr`)
        const extensions = join(directory, `issued-${issued}.cnf`)
        await writeFile(extensions, hosts.length === 0 ? "" : `subjectAltName=${hosts.join(",")}\n`)
        await run("openssl", ["req", ...KEY, "-subj", `/CN=${commonName}`, "-out", request, "-keyout", files.key])
        const signing = ["-CA", authority.certificate, "-CAkey", authority.key, "-CAcreateserial", ...VALID]
        const output = ["-extfile", extensions, "-out", files.certificate]
        await run("openssl", ["x509", "-req", "-in", request, ...signing, ...output])
        return files
      }
    }
  })

export const readPem = (path: string): Promise<string> => readFile(path, "utf8")
