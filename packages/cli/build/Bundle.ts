import { existsSync, readFileSync } from "node:fs"
import { copyFile, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompressSync } from "node:zlib"
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from "rolldown"

const root = fileURLToPath(new URL("..", import.meta.url))

const { description, engines, license, name, version } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8")
) as Readonly<Record<string, unknown>>

/** package.json of the published package, which needs only Node. */
const manifest = {
  name,
  version,
  description,
  type: "commonjs",
  license,
  bin: { agentctl: "agentctl.cjs" },
  files: ["agentctl.cjs", "CHANGELOG.md", "REFERENCE.md"],
  engines,
  sideEffects: true
}

/** Replaces the module that reads the package.json beside the sources. */
const versionText: Plugin = {
  name: "version-text",
  load: (id) =>
    id === join(root, "src/Version.ts")
      ? `export const VERSION = ${JSON.stringify(version)}\nexport const RUNS_FROM_SOURCES = false`
      : null
}

const LAZY = "\0lazy:"

/** Loads the built-in modules of Node with the modules that use them, instead of all at the start. */
const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  resolveId: (source, importer) => {
    if (!source.startsWith("node:")) return null
    return importer?.startsWith(LAZY) === true ? { id: source, external: true } : `${LAZY}${source}`
  },
  load: (id) => (id.startsWith(LAZY) ? `module.exports = require(${JSON.stringify(id.slice(LAZY.length))})` : null)
}

/** Libraries that few commands need, with the exports that the sources import. */
const SEALED: Readonly<Record<string, string>> = {
  paying: `
    export { x402Client } from "@x402/core/client"
    export { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
    export { ExactEvmScheme } from "@x402/evm/exact/client"
    export { privateKeyToAccount } from "viem/accounts"
    export { createSiweMessage } from "viem/siwe"`,
  socket: `export { WebSocket } from "ws"`
}
const SEAL = "\0sealed:"

const sealOf = (source: string): string | undefined =>
  Object.keys(SEALED).find((name) => SEALED[name]!.includes(`from "${source}"`))

const output: OutputOptions = {
  format: "cjs",
  codeSplitting: false,
  minify: { compress: true, mangle: true, codegen: { removeWhitespace: true } },
  comments: false
}

/** Silences the warning that plugins take most of the time: they compress the libraries. */
const checks: InputOptions["checks"] = { bundlerTimings: false }

/** Bundles one library into the text of a CommonJS module. */
const textOf = async (name: string): Promise<string> => {
  const entry = `${root}/${name}.sealed.js`
  const build = await rolldown({
    input: entry,
    platform: "node",
    cwd: root,
    checks,
    plugins: [
      {
        name: "entry",
        resolveId: (source) => (source === entry ? entry : null),
        load: (id) => (id === entry ? SEALED[name]! : null)
      },
      lazyBuiltins
    ]
  })
  try {
    const [chunk] = (await build.generate(output)).output
    return chunk.code
  } finally {
    await build.close()
  }
}

/**
 * Stores these libraries in the file as compressed text, which is compiled on first use. Node parses the whole file before
 * it starts, and the libraries are several times as long as everything else.
 */
const sealed: Plugin = {
  name: "sealed",
  resolveId: (source) => {
    const name = sealOf(source)
    return name === undefined ? null : `${SEAL}${name}`
  },
  load: async (id) => {
    if (!id.startsWith(SEAL)) return null
    const name = id.slice(SEAL.length)
    const packed = brotliCompressSync(await textOf(name)).toString("base64")
    return `const { compileFunction } = require("node:vm")
      const { brotliDecompressSync } = require("node:zlib")
      const library = { exports: {} }
      const text = brotliDecompressSync(Buffer.from("${packed}", "base64")).toString()
      compileFunction(text, ["require", "module", "exports"], { filename: "agentctl-${name}.cjs" })(require, library, library.exports)
      module.exports = library.exports`
  }
}

/** Escapes non-ASCII characters, which only occur in strings and patterns. Node parses an ASCII file faster. */
const asciiOf = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * Writes the npm package to `folder`: one file with everything in it, and its package.json. The file is CommonJS, because
 * Node starts it twice as fast as an ES module. Dynamically imported modules are evaluated when they are first needed.
 */
export const bundle = async (folder: string): Promise<void> => {
  const build = await rolldown({
    input: `${root}/src/main.ts`,
    platform: "node",
    cwd: root,
    // Parentheses around module functions would make Node compile every module at the start.
    optimization: { pifeForModuleWrappers: false },
    checks,
    plugins: [versionText, sealed, lazyBuiltins]
  })
  try {
    const [chunk] = (await build.generate({ ...output, strictExecutionOrder: true })).output
    await mkdir(folder, { recursive: true })
    await writeFile(`${folder}/agentctl.cjs`, asciiOf(chunk.code))
  } finally {
    await build.close()
  }
  await writeFile(`${folder}/package.json`, `${JSON.stringify(manifest, undefined, 2)}\n`)
  // There is no changelog before the first release.
  for (const file of ["README.md", "REFERENCE.md", "CHANGELOG.md"])
    if (existsSync(join(root, file))) await copyFile(join(root, file), join(folder, file))
}
