/** The build options that the bundles of agentctl and agentos-server share. */
import { readdirSync, readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { brotliCompressSync } from "node:zlib"
import type { InputOptions, OutputOptions, Plugin, rolldown } from "rolldown"

/** Options of every build. A warning fails it. */
export const BUILD = {
  platform: "node",
  // The sources need none, and the context of an image has none.
  tsconfig: false,
  // Plugins take most of the time, and effect reads import.meta.env only where it exists.
  checks: { bundlerTimings: false, emptyImportMeta: false },
  onLog: (level, { message }) => {
    if (level === "warn") throw new Error(message)
  }
} as const satisfies InputOptions

const LAZY = "\0lazy:"

/** Loads the built-in modules of Node with the modules that use them, instead of all at the start. */
export const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  resolveId: (source, importer) => {
    if (!source.startsWith("node:")) return null
    return importer?.startsWith(LAZY) === true ? { id: source, external: true } : `${LAZY}${source}`
  },
  load: (id) => (id.startsWith(LAZY) ? `module.exports = require(${JSON.stringify(id.slice(LAZY.length))})` : null)
}

/** Removes the parentheses that mark a function. */
const nameOf = (exported: string): string => exported.replace("()", "")

const SEAL = "\0sealed:"
const TEXT = "\0sealed-text:"

/**
 * The exports that the sources use, by import specifier. `name()` is a function, whose first call loads the library; the
 * others load it when the module that imports them is evaluated.
 */
export type SealedLibrary = Readonly<Record<string, ReadonlyArray<string>>>

interface SealOptions {
  /** The bundler of the package, which may be the only one that is installed. */
  readonly rolldown: typeof rolldown
  readonly output: OutputOptions
  /** Plugins for the modules of the libraries. */
  readonly plugins?: ReadonlyArray<Plugin>
  /** Writes a file beside that of the program. Without it, the program consists of one file. */
  readonly writeFile?: (name: string, code: string) => Promise<void>
}

/**
 * Stores libraries in files of their own, or in the file of the program as compressed text, and loads them on first use. Node
 * parses the whole file of a program before it starts, and rarely used libraries can be longer than the rest. They share no
 * module with the rest. `modules` are the paths of the stored modules, after the build.
 */
export const sealing = (
  program: string,
  libraries: Readonly<Record<string, SealedLibrary>>,
  { output, plugins = [], rolldown: bundler, writeFile }: SealOptions
): { readonly plugin: Plugin; readonly modules: ReadonlyArray<string> } => {
  const modules: Array<string> = []
  /** A module that imports the library, by the name of the library. */
  const importers = new Map<string, string>()

  /** Bundles one library into the text of a CommonJS module, whose exports have the index of their specifier. */
  const textOf = async (name: string): Promise<string> => {
    const entry = join(dirname(importers.get(name) ?? ""), `${name}.sealed.js`)
    const exported = Object.entries(libraries[name] ?? {}).map(
      ([source, names], index) =>
        `export { ${names.map((each) => `${nameOf(each)} as ${nameOf(each)}_${index}`).join(", ")} } from ${JSON.stringify(source)}`
    )
    const given: Plugin = {
      name: "entry",
      resolveId: (source) => (source === entry ? entry : null),
      load: (id) => (id === entry ? exported.join("\n") : null)
    }
    const build = await bundler({ input: entry, ...BUILD, plugins: [given, ...plugins, lazyBuiltins] })
    try {
      const [chunk] = (await build.generate(output)).output
      modules.push(...Object.keys(chunk.modules))
      return chunk.code
    } finally {
      await build.close()
    }
  }

  const plugin: Plugin = {
    name: "sealed",
    resolveId: (source, importer) => {
      if (source.startsWith(TEXT)) return source
      const name = Object.keys(libraries).find((each) => source in libraries[each]!)
      if (name === undefined || importer === undefined) return null
      importers.set(name, importer)
      return `${SEAL}${source}`
    },
    load: async (id) => {
      if (id.startsWith(SEAL)) {
        const source = id.slice(SEAL.length)
        const [name, library] = Object.entries(libraries).find(([, each]) => source in each)!
        const index = Object.keys(library).indexOf(source)
        const exports = library[source]!.map((each) => {
          const loaded = `load().${nameOf(each)}_${index}`
          if (each.endsWith("()")) return `export const ${nameOf(each)} = (...parameters) => ${loaded}(...parameters)`
          return each === "default" ? `export default ${loaded}` : `export const ${each} = ${loaded}`
        })
        return `import { load } from ${JSON.stringify(TEXT + name)}\n${exports.join("\n")}`
      }
      if (!id.startsWith(TEXT)) return null
      const name = id.slice(TEXT.length)
      const text = await textOf(name)
      if (writeFile !== undefined) {
        const file = `${program}-${name}.cjs`
        await writeFile(file, text)
        return `export const load = () => require(__dirname + ${JSON.stringify(`/${file}`)})`
      }
      const packed = brotliCompressSync(text).toString("base64")
      return `import { compileFunction } from "node:vm"
        import { brotliDecompressSync } from "node:zlib"
        let library
        export const load = () => {
          if (library !== undefined) return library.exports
          library = { exports: {} }
          const code = brotliDecompressSync(Buffer.from("${packed}", "base64")).toString()
          compileFunction(code, ["require", "module", "exports"], { filename: "${program}-${name}.cjs" })(require, library, library.exports)
          return library.exports
        }`
    }
  }
  return { plugin, modules }
}

/** Escapes non-ASCII characters, which only occur in strings and patterns. Node parses an ASCII file faster. */
export const asciiOf = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
}

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

/** Returns the names, licenses and license texts of the libraries that these modules belong to. */
export const thirdPartyLicenses = (modules: Iterable<string>): string => {
  const notices = new Map<string, string>()
  for (const id of modules) {
    const path = id.split("?")[0] ?? id
    if (!path.includes("/node_modules/")) continue
    const { manifest, directory } = libraryOf(path)
    const title = `${manifest.name} ${manifest.version} (${manifest.license})`
    if (notices.has(title)) continue
    const texts = readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile() && LICENSE_FILE.test(entry.name))
      .map(({ name }) => readFileSync(join(directory, name), "utf8").replaceAll("\r\n", "\n").trim())
    notices.set(title, texts.join("\n\n"))
  }
  const entries = [...notices].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `This program contains these libraries.\n\n${entries.map(([title, text]) => `---- ${title}\n\n${text}\n`).join("\n")}`
}

/** Returns the package of a module. Some libraries have further package.json files, without a name, inside. */
const libraryOf = (module: string): { readonly manifest: Manifest; readonly directory: string } => {
  const file = findPackageJSON(pathToFileURL(module))
  if (file === undefined) throw new Error(`${module} belongs to no package`)
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Partial<Manifest>
  const { license, name, version } = manifest
  if (name === undefined || version === undefined) return libraryOf(dirname(file))
  if (license === undefined) throw new Error(`${file} names no license`)
  return { manifest: { name, version, license }, directory: dirname(file) }
}
