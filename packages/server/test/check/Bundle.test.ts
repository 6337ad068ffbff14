import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { writeBundle } from "../../src/check/Bundle.ts"
import { diagnose } from "../../src/check/Doctor.ts"
import { ALL_VARIABLES, type Environment } from "../../src/variable/Variables.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "agentos-bundle-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const SHOW = `import json, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
print(json.dumps({name: z.read(name).decode() for name in z.namelist()}))`

/** Writes a bundle, and returns its files. */
const bundleOf = async (name: string, environment: Environment): Promise<Readonly<Record<string, string>>> => {
  const path = join(folder, `${name}.zip`)
  await Effect.runPromise(Effect.flatMap(diagnose(environment), (checks) => writeBundle(path, environment, checks)))
  assert.strictEqual(statSync(path).mode & 0o777, 0o600)
  return JSON.parse(execFileSync("python3", ["-c", SHOW, path]).toString()) as Readonly<Record<string, string>>
}

/** A secret of its own for each variable, in 32 letters and digits. */
const secretOf = (variable: string): string => createHash("sha256").update(variable).digest("hex").slice(0, 32)

const partsOf = (secret: string): ReadonlyArray<string> => secret.match(/.{8}/g) ?? []

const planted = (wrap: (secret: string) => string): Environment =>
  Object.fromEntries(ALL_VARIABLES.map(([name]) => [name, wrap(secretOf(name))]))

describe("the bundle of the doctor", () => {
  it.each<readonly [string, (secret: string) => string]>([
    ["a value", (secret) => secret],
    ["a list", (secret) => `1:${secret}, b=${secret}`],
    ["a URL", (secret) => `https://user:${secret}@host.example:8443/${secret}?key=${secret}#${secret}`],
    ["a database's URL", (secret) => `postgres://${secret}:${secret}@127.0.0.1:1/${secret}`],
    ["JSON", (secret) => JSON.stringify([{ privateKey: `0x${secret}`, rpcUrl: `https://rpc.example/${secret}` }])],
    [
      "a private key",
      (secret) => `-----BEGIN PRIVATE KEY-----\n${partsOf(secret).join("/")}\n-----END PRIVATE KEY-----`
    ]
  ])("has no secret that is %s of any variable", async (name, wrap) => {
    const files = await bundleOf(name.replaceAll(" ", "-"), planted(wrap))
    assert.sameMembers(Object.keys(files), [
      "report.json",
      "configuration.json",
      "audit.json",
      "metrics.txt",
      "versions.json"
    ])
    for (const [variable] of ALL_VARIABLES) {
      for (const [file, text] of Object.entries(files)) {
        for (const part of partsOf(secretOf(variable))) assert.notInclude(text, part, `${variable}: ${file}`)
      }
    }
  })

  it("shows what is not secret, names what is missing, and what has no effect", async () => {
    const files = await bundleOf("plain", {
      AGENTOS_PUBLIC_URL: "https://agents.example.com/api",
      AGENTOS_PORT: "8080",
      AGENTOS_EMAIL_DOMAIN: "agents.example.com",
      AGENTOS_OPERATOR_TOKEN: "o".repeat(32),
      AGENTOS_OPERATOR_TOKN: "p".repeat(32)
    })
    const { unknown, variables } = JSON.parse(files["configuration.json"]!) as {
      readonly variables: Readonly<Record<string, string | null>>
      readonly unknown: ReadonlyArray<string>
    }
    assert.strictEqual(variables["AGENTOS_PUBLIC_URL"], "https://agents.example.com")
    assert.strictEqual(variables["AGENTOS_PORT"], "8080")
    assert.strictEqual(variables["AGENTOS_EMAIL_DOMAIN"], "agents.example.com")
    assert.strictEqual(variables["AGENTOS_OPERATOR_TOKEN"], "(set)")
    assert.isNull(variables["DATABASE_URL"])
    assert.match(unknown.join(), /AGENTOS_OPERATOR_TOKN .*Did you mean AGENTOS_OPERATOR_TOKEN/)
    assert.include(files["report.json"], "AGENTOS_KEYS is missing")
    assert.include(files["audit.json"], "Could not be read: ")
    assert.notInclude(JSON.stringify(files), "p".repeat(32))
  })
})
