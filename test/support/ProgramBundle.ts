import { prepared } from "@agentos/postgres/testing"
import { globSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Plugin } from "rolldown"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

/**
 * The programs that tests start, except two: the mail parser may read only the directories of its sources, and the
 * tests of agentctl run the published file.
 */
const PROGRAMS = [
  "packages/{server,postgres,sandbox}/src/**/{main,*Main}.ts",
  "packages/postgres/test/program/*Main.ts",
  "test/{cli,faults/server,support}/{*Server,prepareData,step}Main.ts"
]

/** Packages that load files beside their modules. */
const EXTERNAL = /^@electric-sql\/pglite(\/|$)/

const REDIRECTION = "redirect.cjs"

/** The location of each module stays that of its source, because files and programs are found beside it. */
const sourceLocations: Plugin = {
  name: "source-locations",
  async transform(code, id) {
    if (!code.includes("import.meta.")) return null
    let located = code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
    for (const [call, specifier] of code.matchAll(/import\.meta\.resolve\("([^"]+)"\)/g)) {
      const resolved = await this.resolve(specifier!, id)
      if (resolved === null) throw new Error(`${id} resolves ${specifier}, which does not exist`)
      located = located.replaceAll(call, JSON.stringify(pathToFileURL(resolved.id).href))
    }
    // No line moves, so the positions in the source stay correct.
    return { code: located, map: null }
  }
}

const externalPackages: Plugin = {
  name: "external-packages",
  async resolveId(specifier, importer) {
    if (!EXTERNAL.test(specifier)) return null
    const resolved = await this.resolve(specifier, importer, { skipSelf: true })
    return resolved === null ? null : { id: pathToFileURL(resolved.id).href, external: true }
  }
}

/** A module for `node --require` that makes Node load the file of a program, beside this module, instead of its source. */
const redirection = (programs: ReadonlyMap<string, string>): string => `
const files = new Map(${JSON.stringify([...programs].map(([name, source]) => [pathToFileURL(source).href, `${name}.mjs`]))})
const { join } = require("node:path")
const { pathToFileURL } = require("node:url")
require("node:module").registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context)
    const file = files.get(resolved.url)
    if (file === undefined) return resolved
    return { ...resolved, url: pathToFileURL(join(__dirname, file)).href, format: "module" }
  }
})
`

const build = async (folder: string): Promise<void> => {
  const programs = new Map(
    globSync(PROGRAMS, { cwd: ROOT }).map((path) => [path.replace(/\.ts$/, ""), join(ROOT, path)])
  )
  const { rolldown } = await import("rolldown")
  const bundle = await rolldown({
    input: Object.fromEntries(programs),
    platform: "node",
    cwd: ROOT,
    checks: { bundlerTimings: false },
    plugins: [externalPackages, sourceLocations]
  })
  try {
    await bundle.write({
      dir: folder,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "chunk/[name]-[hash].mjs",
      comments: false,
      // Readable as they are: source maps, which NODE_OPTIONS=--enable-source-maps turns on, cost each process 0.15 s.
      sourcemap: true,
      sourcemapExcludeSources: true,
      strictExecutionOrder: true
    })
  } finally {
    await bundle.close()
  }
  await writeFile(join(folder, REDIRECTION), redirection(programs))
}

/**
 * Makes the processes that this one starts from now on load each program from a few files instead of more than a
 * thousand modules. The files are built once per test run; outside a test run nothing changes.
 */
export const useProgramBundle = async (): Promise<void> => {
  const folder = await prepared("programs", build)
  if (folder === undefined || process.env["NODE_OPTIONS"]?.includes(REDIRECTION) === true) return
  const options = [process.env["NODE_OPTIONS"], `--require="${join(folder, REDIRECTION)}"`]
  process.env["NODE_OPTIONS"] = options.filter(Boolean).join(" ")
  // The files have another path in each run, so their compiled code is of no use to the next.
  process.env["NODE_COMPILE_CACHE"] = `${folder}.compiled`
}

/** The compile cache of Node for sources, which stays for later runs. Sandboxes use it, too. */
export const SOURCES_CACHE = join(ROOT, "node_modules/.cache/compile")

/** Environment variables of a process that loads its sources, as users start it. */
export const FROM_SOURCES = { NODE_OPTIONS: "", NODE_COMPILE_CACHE: SOURCES_CACHE } as const
