import { checkPackage, createPackageFromTarballData, type Problem } from "@arethetypeswrong/core"
import { spawnSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { type Plugin, rolldown } from "rolldown"
import { importEffectByModule } from "./EffectImports.ts"

/**
 * Builds every package, packs it into a folder (default `dist/packages`) as it would be published, and checks each packed
 * file: its metadata, with publint and with @arethetypeswrong/core. Prints a line per package. Fails if any has a problem.
 */
const root = fileURLToPath(new URL("..", import.meta.url))
const folder = resolve(process.argv[2] ?? join(root, "dist/packages"))

const run = (command: string, parameters: ReadonlyArray<string>): void => {
  const { error, status, stderr, stdout } = spawnSync(command, parameters, { cwd: root, encoding: "utf8" })
  if (error !== undefined) throw error
  if (status === 0) return
  console.error(`${command} ${parameters.join(" ")}\n${stdout}${stderr}`)
  process.exit(1)
}

const everyPackage = (...parameters: ReadonlyArray<string>): void =>
  run("npx", ["-y", "pnpm@12", "--recursive", "--filter", "./packages/*", ...parameters])

const REQUIRED_FIELDS = ["description", "license", "engines", "sideEffects", "files", "type"]
/** They name a place, and the project has several. */
const REFUSED_FIELDS = ["repository", "homepage", "bugs"]
const REQUIRED_FILES = ["LICENSE", "README.md"]
const TEST_FILE = /\.test\.|(?:^|\/)tests?\//

/** Node runs no TypeScript below node_modules, so `publishConfig` replaces these fields by the built files. */
const ENTRY_FIELDS = ["bin", "exports"]
const SOURCE_ENTRY = /(?<!\.d)\.ts"/

const metadataProblems = (
  manifest: Readonly<Record<string, unknown>>,
  files: ReadonlyArray<string>
): ReadonlyArray<string> => [
  ...REQUIRED_FIELDS.filter((field) => manifest[field] === undefined).map((field) => `package.json lacks ${field}`),
  ...REFUSED_FIELDS.filter((field) => manifest[field] !== undefined).map((field) => `package.json has ${field}`),
  ...ENTRY_FIELDS.filter((field) => SOURCE_ENTRY.test(JSON.stringify(manifest[field] ?? {}))).map(
    (field) => `${field} in package.json names a source: set publishConfig.${field}`
  ),
  ...REQUIRED_FILES.filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
  ...files.filter((file) => TEST_FILE.test(file)).map((file) => `${file} is a test`)
]

/**
 * The size in bytes that a package promises, of all that it exports, minified and compressed by gzip: what it adds to a page.
 * The packed file is larger, because it is readable and has types and a source map.
 */
const SIZE_LIMITS: Readonly<Record<string, number>> = { "@agentos/client": 22 * 1_024 }

const sizeProblems = async (
  name: string,
  readFile: (path: string) => string,
  entry: string | undefined
): Promise<ReadonlyArray<string>> => {
  const limit = SIZE_LIMITS[name]
  if (limit === undefined) return []
  if (entry === undefined) return ["its entry, whose size is limited, was not found"]
  const load: Plugin = { name: "packed", resolveId: (id) => id, load: () => readFile(entry) }
  const build = await rolldown({ input: entry, platform: "browser", plugins: [load] })
  const [{ code }] = (await build.generate({ minify: true })).output
  await build.close()
  const bytes = gzipSync(code, { level: 9 }).length
  console.log(`${name.padEnd(35)} ${`${Math.ceil(bytes / 1024)} KiB minified and compressed`.padStart(9)}`)
  return bytes <= limit ? [] : [`${bytes} bytes are more than the limit of ${limit}`]
}

/** Returns the path of the default entry of a package; undefined if it has none. */
const entryOf = ({ exports }: Readonly<Record<string, unknown>>): string | undefined => {
  const root = (exports as Readonly<Record<string, unknown>> | undefined)?.["."]
  const file = typeof root === "string" ? root : (root as { readonly default?: string } | undefined)?.default
  return file?.replace(/^\.\//, "")
}

const COMMENT = /\/\*[^]*?\*\//g
const NODE_TYPES = /from "node:|import\("node:|\bNodeJS\.|\bBuffer\b/
const NODE_REFERENCE = /^\/\/\/ <reference types="node"/

/** Finds declarations that need Node's types in a package that does not load them. */
const nodeTypeProblems = (
  manifest: Readonly<Record<string, unknown>>,
  declarations: ReadonlyMap<string, string>
): ReadonlyArray<string> => {
  const { dependencies = {} } = manifest as { readonly dependencies?: object }
  const loads = (entry: string) => NODE_REFERENCE.test(declarations.get(entry) ?? "")
  /** An entry of a package or of one of its folders. */
  const isCovered = (file: string) =>
    "@types/node" in dependencies && (loads("dist/index.d.ts") || loads(`${file.split("/", 2).join("/")}/index.d.ts`))
  return [...declarations].flatMap(([file, text]) =>
    isCovered(file) || !NODE_TYPES.test(text.replaceAll(COMMENT, ""))
      ? []
      : [`${file} needs Node's types: begin its index.ts with a reference to them, and depend on @types/node`]
  )
}

/** Deletes the files that the compiler wrote for sources that no longer exist. */
const deleteStaleFiles = (): void => {
  for (const declaration of globSync("packages/*/dist/**/*.d.ts", { cwd: root })) {
    const stem = declaration.slice(0, -".d.ts".length)
    if (["/src/", "/"].some((folder) => existsSync(join(root, `${stem.replace("/dist/", folder)}.ts`)))) continue
    for (const ending of [".d.ts", ".d.ts.map", ".js", ".js.map"]) rmSync(join(root, stem + ending), { force: true })
  }
}

/** Resolutions that packages of ES modules don't support. */
const IGNORED_RESOLUTIONS: ReadonlySet<string | undefined> = new Set(["node10", "node16-cjs"])

const resolutionOf = (problem: Problem): string | undefined => {
  if ("resolutionKind" in problem) return problem.resolutionKind
  return "resolutionOption" in problem ? problem.resolutionOption : undefined
}

const typeProblems = async (
  packed: ReturnType<typeof createPackageFromTarballData>
): Promise<ReadonlyArray<string>> => {
  const analysis = await checkPackage(packed)
  if (analysis.types === false) return []
  return analysis.problems
    .filter((problem) => !IGNORED_RESOLUTIONS.has(resolutionOf(problem)))
    .map((problem) => `types: ${JSON.stringify(problem)}`)
}

/** Checks a packed file, prints its line, and returns whether it has no problem. */
const check = async (file: string): Promise<boolean> => {
  const bytes = new Uint8Array(readFileSync(join(folder, file)))
  const packed = createPackageFromTarballData(bytes)
  const prefix = `/node_modules/${packed.packageName}/`
  const files = packed.listFiles().map((path) => path.slice(prefix.length))
  const declarations = files
    .filter((path) => path.endsWith(".d.ts"))
    .map((path) => [path, packed.readFile(prefix + path)] as const)
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true })
  const problems = [
    ...metadataProblems(pkg, files),
    ...(await sizeProblems(packed.packageName, (path) => packed.readFile(prefix + path), entryOf(pkg))),
    ...nodeTypeProblems(pkg, new Map(declarations)),
    ...messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`),
    ...(await typeProblems(packed))
  ]
  const size = `${Math.ceil(bytes.length / 1024)} KiB`.padStart(9)
  console.log(`${packed.packageName.padEnd(35)} ${packed.packageVersion} ${size} ${files.length} files`)
  for (const problem of problems) console.error(`  ${problem}`)
  return problems.length === 0
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
deleteStaleFiles()
run(join(root, "node_modules/.bin/tsc"), [
  "-b",
  ...globSync("packages/{*,*/contract-tests}/tsconfig.json", { cwd: root })
])
importEffectByModule(root)
everyPackage("--if-present", "--no-sort", "run", "bundle")
everyPackage("pack", "--pack-gzip-level", "9", "--pack-destination", folder)
for (const file of readdirSync(folder)) if (!(await check(file))) process.exitCode = 1
