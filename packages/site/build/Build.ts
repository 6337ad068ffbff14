import { acquireFileLock, FileLockedError } from "@agentos/node/file-lock"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { globSync, realpathSync } from "node:fs"
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { thirdPartyLicenses } from "../../../release/Bundling.ts"

const PACKAGE = fileURLToPath(new URL("..", import.meta.url))
const DIST = join(PACKAGE, "dist")
/** The sources and the output of Astro while a build runs. */
const WORK = join(PACKAGE, ".pages")

const SOURCES = [
  "{content,build,theme}/**/*.*",
  "{astro.config.mjs,package.json}",
  "../{api,core,http-server}/src/**/*.ts",
  "../../examples/*/src/*.ts"
]
/** The sources of the packages that are downloaded. */
const PACKAGE_SOURCES = [
  "build/Downloads.ts",
  "../{client,tools,cli}/{src,build}/**/*.*",
  "../{client,tools,cli}/{package.json,*.md}",
  "../node/src/{command-line,file-lock}/**/*.ts",
  "../../{LICENSE,release/Bundling.ts}"
]

/** The file in a result that has the hash of its sources. */
const STAMP = "BUILD"

const RETRY_MILLIS = 200
/** A build takes fifteen seconds, or a minute on a busy machine. */
const LOCK_MILLIS = 300_000

/** Returns the hash of sources. */
const hashOf = async (patterns: ReadonlyArray<string>): Promise<string> => {
  const hash = createHash("sha256")
  for (const pattern of patterns) {
    for (const file of globSync(pattern, { cwd: PACKAGE }).toSorted())
      hash.update(file).update(await readFile(join(PACKAGE, file)))
  }
  return hash.digest("hex")
}

const isCurrent = async (folder: string, hash: string): Promise<boolean> => {
  const stamp = await readFile(join(folder, STAMP), "utf8").catch(() => "")
  return stamp === hash
}

/** Waits for the lock, so that the processes of one checkout build one after the other. */
const lock = async () => {
  const deadline = Date.now() + LOCK_MILLIS
  for (;;) {
    try {
      return acquireFileLock(join(DIST, "build.lock"))
    } catch (error) {
      if (!(error instanceof FileLockedError) || Date.now() > deadline) throw error
      await sleep(RETRY_MILLIS)
    }
  }
}

/** Replaces `dist/{name}` by what `build` writes into an empty folder, unless it is current. */
const replaced = async (
  name: string,
  build: (folder: string) => Promise<void>,
  sources: ReadonlyArray<string> = SOURCES
): Promise<void> => {
  const target = join(DIST, name)
  const hash = await hashOf(sources)
  if (await isCurrent(target, hash)) return
  await mkdir(DIST, { recursive: true })
  const held = await lock()
  try {
    if (await isCurrent(target, hash)) return
    const draft = `${target}.draft`
    await rm(draft, { recursive: true, force: true })
    await mkdir(draft, { recursive: true })
    await build(draft)
    await writeFile(join(draft, STAMP), hash)
    await rm(target, { recursive: true, force: true })
    await rename(draft, target)
  } finally {
    held.release()
  }
}

const write = async (folder: string, files: ReadonlyMap<string, string>): Promise<void> => {
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

/** Writes the twins of all pages, the indexes for agents and the OpenAPI document. */
export const buildTexts = (): Promise<void> =>
  replaced("texts", async (folder) => write(folder, (await import("./Files.ts")).textFiles()))

const folderOf = (name: string): string => dirname(findPackageJSON(name, import.meta.url) ?? "")

/** Returns the licenses of the libraries whose files are in the site. */
const licenses = (): string => {
  const starlight = realpathSync(folderOf("@astrojs/starlight"))
  const within = ["pagefind", "astro-expressive-code"].map((name) =>
    dirname(findPackageJSON(name, pathToFileURL(join(starlight, "package.json"))) ?? "")
  )
  const folders = [starlight, folderOf("@scalar/api-reference"), ...within]
  return thirdPartyLicenses(folders.map((folder) => join(folder, "package.json")))
}

/** Writes the whole site: the pages as HTML with their assets and the search index, and the texts. */
export const buildPages = (): Promise<void> =>
  replaced("site", async (folder) => {
    const { astroFiles, textFiles } = await import("./Files.ts")
    await rm(WORK, { recursive: true, force: true })
    await write(WORK, astroFiles())
    await cp(join(folderOf("@scalar/api-reference"), "dist/browser/standalone.js"), join(WORK, "public/scalar.js"))
    await cp(join(PACKAGE, "theme/explorer.js"), join(WORK, "public/explorer.js"))
    const astro = join(folderOf("astro"), "bin/astro.mjs")
    await promisify(execFile)(process.execPath, [astro, "build"], {
      cwd: PACKAGE,
      // Nothing else of the environment: BASE_URL or NODE_ENV of a test runner would change the pages.
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ASTRO_TELEMETRY_DISABLED: "1" }
    })
    await rename(join(WORK, "out"), join(folder, "docs"))
    // The start page is served at the root, and not below /docs.
    await rename(join(folder, "docs/start/index.html"), join(folder, "index.html"))
    await rm(join(folder, "docs/start"), { recursive: true })
    await write(folder, textFiles())
    await writeFile(join(folder, "THIRD_PARTY_LICENSES"), licenses())
    // Astro writes types for editors, which nothing here reads.
    for (const written of [WORK, join(PACKAGE, ".astro")]) await rm(written, { recursive: true, force: true })
  })

/** Writes the packed client, tools and command line, with their index. */
export const buildDownloads = (): Promise<void> =>
  replaced("downloads", async (folder) => (await import("./Downloads.ts")).writeDownloads(folder), PACKAGE_SOURCES)
