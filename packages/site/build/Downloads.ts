import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { create } from "tar"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))
const PACKAGES = join(ROOT, "packages")
/** The packages while they are built, below a folder of this package, so that imports in it resolve. */
const WORK = fileURLToPath(new URL("../.downloads", import.meta.url))

const run = promisify(execFile)

/** A packed package, as the index of the downloads lists it. */
interface Download {
  readonly name: string
  readonly version: string
  readonly file: string
  readonly bytes: number
  /** In hexadecimal. */
  readonly sha256: string
  /** The SHA-512 as lockfiles of package managers have it (Subresource Integrity). */
  readonly integrity: string
}

/** All but the paths: the project references of the repository need its other projects. */
const COMPILER_OPTIONS = {
  target: "ES2024",
  lib: ["ES2024", "DOM"],
  module: "NodeNext",
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  // The checks of the repository have checked them.
  noCheck: true,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
  resolveJsonModule: true,
  declaration: true,
  stripInternal: true
}

/** Compiles the sources of a package into a folder. */
const compile = async (
  name: string,
  outDir: string,
  paths: Readonly<Record<string, ReadonlyArray<string>>> = {}
): Promise<void> => {
  const folder = join(PACKAGES, name)
  const config = join(WORK, `tsconfig.${name}.json`)
  const compilerOptions = { ...COMPILER_OPTIONS, rootDir: join(folder, "src"), outDir, paths }
  await writeFile(config, JSON.stringify({ compilerOptions, include: [join(folder, "src")] }))
  // The packages have a compiler of their own, because an image is built without the tools of the repository.
  const compiler = createRequire(join(PACKAGES, "client/package.json")).resolve("typescript/lib/tsc.js")
  await run(process.execPath, [compiler, "-p", config])
}

/** Runs the bundler of a package. */
const bundle = async (name: string, ...parameters: ReadonlyArray<string>): Promise<void> => {
  await run(process.execPath, [join(PACKAGES, name, "build/bundleMain.ts"), ...parameters])
}

const buildClient = async (folder: string): Promise<void> => {
  const compiled = join(WORK, "client-compiled")
  await compile("client", compiled)
  await bundle("client", folder, join(compiled, "index.d.ts"))
}

/** Returns the package.json of a published package: with the built entries, and dependencies by their versions. */
const publishedManifest = async (name: string): Promise<Readonly<Record<string, unknown>>> => {
  const { dependencies, publishConfig, version, ...manifest } = JSON.parse(
    await readFile(join(PACKAGES, name, "package.json"), "utf8")
  ) as {
    readonly version: string
    readonly dependencies: Readonly<Record<string, string>>
    readonly publishConfig: Readonly<Record<string, unknown>>
  } & Readonly<Record<string, unknown>>
  // The packages of the repository have one version.
  const versions = Object.entries(dependencies).map(
    ([each, range]) => [each, range === "workspace:*" ? version : range] as const
  )
  const omitted = ["devDependencies", "scripts"]
  const published = Object.fromEntries(Object.entries(manifest).filter(([field]) => !omitted.includes(field)))
  return { ...published, version, dependencies: Object.fromEntries(versions), ...publishConfig }
}

const buildTools = async (folder: string): Promise<void> => {
  await compile("tools", join(folder, "dist"), { "@agentos/client": [join(WORK, "client/client.d.ts")] })
  await writeFile(join(folder, "package.json"), `${JSON.stringify(await publishedManifest("tools"), undefined, 2)}\n`)
  await copyFile(join(PACKAGES, "tools/README.md"), join(folder, "README.md"))
}

const buildCli = (folder: string): Promise<void> => bundle("cli", folder)

/** Packs a folder into `target` as npm does. The same files result in the same bytes. */
const pack = async (folder: string, target: string): Promise<Download> => {
  const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    readonly name: string
    readonly version: string
  }
  if (!existsSync(join(folder, "LICENSE"))) await cp(join(ROOT, "LICENSE"), join(folder, "LICENSE"))
  const file = `${name.slice(1).replace("/", "-")}-${version}.tgz`
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
  const options = { cwd: folder, prefix: "package", portable: true, noMtime: true, gzip: { level: 9 } }
  await create({ ...options, file: join(target, file) }, files)
  const bytes = await readFile(join(target, file))
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`
  return { name, version, file, bytes: bytes.length, sha256, integrity }
}

/** In this order, because the tools are compiled against the client. */
const BUILDS = { client: buildClient, tools: buildTools, cli: buildCli }

/** Writes the packed client, tools and command line, and `index.json`, which lists them with their hashes. */
export const writeDownloads = async (target: string): Promise<void> => {
  await rm(WORK, { recursive: true, force: true })
  await mkdir(WORK)
  const packages: Array<Download> = []
  for (const [name, build] of Object.entries(BUILDS)) {
    const folder = join(WORK, name)
    await mkdir(folder)
    await build(folder)
    packages.push(await pack(folder, target))
  }
  await writeFile(join(target, "index.json"), `${JSON.stringify({ packages }, undefined, 2)}\n`)
  await rm(WORK, { recursive: true, force: true })
}
