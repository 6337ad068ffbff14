import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { readLicenses } from "../../lint/Licenses.ts"
import { repository } from "./Workspace.ts"

const WEEK_MINUTES = 7 * 24 * 60

const textOf = (path: string): string => readFileSync(join(repository, path), "utf8")

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
const manifestOf = (path: string): Manifest => JSON.parse(textOf(path)) as Manifest

/** The settings as pnpm reads them, which omits misspelled ones. */
const settings = (): Readonly<Record<string, unknown>> => {
  const { status, stderr, stdout } = spawnSync("pnpm", ["config", "list", "--json"], {
    cwd: repository,
    encoding: "utf8"
  })
  assert.strictEqual(status, 0, stderr)
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>
}

describe("an install", () => {
  it("accepts only versions that are a week old, from the registry, with install scripts allowed or denied by name", () => {
    const { allowBuilds, blockExoticSubdeps, minimumReleaseAge, strictDepBuilds, trustPolicy } = settings()
    assert.isAtLeast(Number(minimumReleaseAge), WEEK_MINUTES)
    assert.deepStrictEqual([blockExoticSubdeps, strictDepBuilds, trustPolicy], [true, true, "no-downgrade"])
    for (const decision of Object.values(allowBuilds as object)) assert.isBoolean(decision)
  })

  it("makes exceptions only for exact versions", () => {
    for (const entry of settings()["minimumReleaseAgeExclude"] as ReadonlyArray<string>)
      assert.match(entry, /^(?:@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/)
  })

  it("follows the lockfile in CI", () => {
    assert.match(textOf(".ci/run"), /^pnpm install --frozen-lockfile$/m)
  })

  it("names an exact version of each dependency", () => {
    const manifests = globSync(["package.json", "{packages,examples}/*/package.json", "test/{,bench/}package.json"], {
      cwd: repository
    })
    assert.isAbove(manifests.length, 10)
    for (const path of manifests) {
      const { dependencies, devDependencies, optionalDependencies } = manifestOf(path)
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }))
        // The project that installs a package decides on the types of Node, so that its program has them once.
        if (name !== "@types/node" || version !== "*")
          assert.match(version, /^(?:workspace:\*|(?:npm:[\w-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?)$/, `${name} in ${path}`)
    }
  })
})

describe("licenses", () => {
  const component = (name: string, ...licenses: ReadonlyArray<object>) => ({
    purl: `pkg:npm/${name}@1.0.0`,
    name,
    licenses
  })
  const refusedOf = (...components: ReadonlyArray<object>) => readLicenses(JSON.stringify({ components })).refused

  it("are checked with the other rules, and in CI", () => {
    const { scripts = {} } = manifestOf("package.json")
    assert.include(scripts["lint:licenses"], "pnpm sbom --sbom-format cyclonedx")
    assert.match(textOf(".ci/run"), /step pnpm lint$/m)
  })

  it("are allowed by name or by choice", () => {
    assert.deepStrictEqual(
      refusedOf(
        component("a", { license: { id: "MIT" } }),
        component("b", { expression: "GPL-3.0-only OR Apache-2.0" }),
        component("c", { expression: "MIT AND ISC" }),
        component("d", { expression: "(MIT OR EUPL-1.1+)" }),
        { purl: "pkg:npm/memorystream@0.3.1", name: "memorystream", licenses: [] }
      ),
      []
    )
  })

  it("are refused if they are not allowed, unclear or missing", () => {
    assert.deepStrictEqual(
      refusedOf(
        component("a", { license: { id: "GPL-3.0-only" } }),
        component("b", { expression: "MIT AND GPL-3.0-only" }),
        component("c", { expression: "(MIT OR GPL-2.0-only) AND GPL-3.0-only" }),
        component("d", { license: { name: "UNLICENSED" } }),
        component("e", { license: { id: "MIT" } }, { license: { id: "AGPL-3.0-only" } }),
        component("f", { expression: "Apache-2.0 WITH Something" }),
        component("g"),
        component("memorystream")
      ).map((line) => line.replace(/^pkg:npm\/(\w+)@1\.0\.0: /, "$1 ")),
      [
        "a GPL-3.0-only",
        "b MIT AND GPL-3.0-only",
        "c (MIT OR GPL-2.0-only) AND GPL-3.0-only",
        "d UNLICENSED",
        "e MIT, AGPL-3.0-only",
        "f Apache-2.0 WITH Something",
        "g no license",
        "memorystream no license"
      ]
    )
  })
})
