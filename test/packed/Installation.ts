import { execFile } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { homedir, tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Registry, startRegistry } from "./Registry.ts"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

/** The supported versions of Node. */
export const NODE_VERSIONS = [22, 24] as const
export type NodeVersion = (typeof NODE_VERSIONS)[number]

/** The folder with the program `node` of each version. */
const nodeFolder = (version: NodeVersion): string => {
  if (version === 24) return dirname(process.execPath)
  const manifest = createRequire(import.meta.url).resolve(`node-22-linux-${process.arch}/package.json`)
  return join(dirname(manifest), "bin")
}

/** An empty folder outside the repository in which the packed files are installed, as a user has it. */
export interface Installation {
  readonly folder: string
  readonly home: string
  readonly registry: Registry
  /** The environment of a user with this version of Node, who gets `@agentos/*` from the registry of the test. */
  readonly environment: (version: NodeVersion) => Readonly<Record<string, string>>
  /** Runs a program to its end. Rejects with its output if it fails. */
  readonly run: (
    version: NodeVersion,
    program: string,
    ...parameters: ReadonlyArray<string>
  ) => Promise<{ readonly stdout: string; readonly stderr: string }>
  readonly stop: () => void
}

/** Variables of this test run and of the package manager that started it. */
const OF_THE_TEST = /^(?:npm_|pnpm_|PNPM_|VITEST|TEST_|NODE_(?!EXTRA_CA_CERTS$)|AGENTOS_|DATABASE_URL$|INIT_CWD$|XDG_)/

/** Returns the environment of a user, without what this test run adds. */
export const userEnvironment = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !OF_THE_TEST.test(entry[0])
    )
  )

/** An installation with an empty cache takes a minute, and longer beside other files. */
const RUN_MILLIS = 400_000

const EXAMPLES = ["hosts", "embedded"]

const readJson = (path: string) =>
  JSON.parse(readFileSync(join(ROOT, path), "utf8")) as Readonly<
    Record<"dependencies" | "devDependencies" | "peerDependencies", Readonly<Record<string, string>>>
  >

/**
 * The packages that a user installs for the examples, the adapters of tools and the contract suites: our packages by name,
 * libraries in the versions of this repository.
 */
const dependencies = (
  versions: Registry["versions"],
  more: Readonly<Record<string, string>>
): Readonly<Record<string, string>> => {
  const libraries = Object.entries(readJson("examples/hosts/package.json").dependencies).filter(
    ([, version]) => !version.startsWith("workspace:")
  )
  const peers = ["packages/tools", "packages/core"].flatMap((folder) => {
    const { devDependencies, peerDependencies } = readJson(`${folder}/package.json`)
    return Object.entries(devDependencies).filter(([name]) => name in peerDependencies)
  })
  const ours = Object.entries(versions).filter(([name]) => name !== "@agentos/cli")
  return { ...Object.fromEntries([...ours, ...libraries, ...peers]), ...more }
}

/**
 * Packs all packages and installs them and more libraries with npm. Libraries come from its cache, else from the npm
 * registry.
 */
export const install = async (more: Readonly<Record<string, string>> = {}): Promise<Installation> => {
  const root = mkdtempSync(join(tmpdir(), "agentos-packed-"))
  const [packed, folder, home] = ["packed", "project", "home"].map((name) => join(root, name)) as [
    string,
    string,
    string
  ]
  await run(process.execPath, [join(ROOT, "release/packMain.ts"), packed])
  const registry = await startRegistry(packed)
  const stop = (): void => {
    registry.stop()
    rmSync(root, { recursive: true, force: true })
  }
  try {
    for (const path of [folder, home]) mkdirSync(path)
    const userConfig = join(homedir(), ".npmrc")
    const settings = existsSync(userConfig) ? readFileSync(userConfig, "utf8") : ""
    writeFileSync(join(home, ".npmrc"), `${settings}\n@agentos:registry=${registry.url}/\n`)
    const environment = (version: NodeVersion): Readonly<Record<string, string>> => ({
      ...userEnvironment(),
      HOME: home,
      PATH: [nodeFolder(version), process.env["PATH"]].join(delimiter),
      npm_config_cache: process.env["npm_config_cache"] ?? join(homedir(), ".npm")
    })
    const installation: Installation = {
      folder,
      home,
      registry,
      environment,
      run: (version, program, ...parameters) =>
        run(program, parameters, { cwd: folder, env: environment(version), timeout: RUN_MILLIS }),
      stop
    }
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ private: true, type: "module", dependencies: dependencies(registry.versions, more) })
    )
    await installation.run(24, "npm", "install", "--no-audit", "--no-fund", "--prefer-offline")
    for (const name of EXAMPLES) cpSync(join(ROOT, "examples", name, "src"), join(folder, name), { recursive: true })
    return installation
  } catch (error) {
    stop()
    throw error
  }
}
