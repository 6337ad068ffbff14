import { mkdir, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { brotliCompressSync } from "node:zlib"
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from "rolldown"
import { VERSION } from "../src/Version.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

/** What npm is to know of the published package: it needs nothing but Node. */
const manifest = {
  name: "agentctl",
  version: VERSION,
  description: "Mailboxes, telephone numbers and their events for agents, paid per call from a wallet.",
  license: "Apache-2.0",
  bin: { agentctl: "agentctl.cjs" },
  files: ["agentctl.cjs"],
  engines: { node: ">=20" }
}

const SLEEPING = "\0sleeping:"

/** Modules of Node are loaded with the module that uses them, and not all of them when the program starts. */
const sleepingBuiltins: Plugin = {
  name: "sleeping-builtins",
  resolveId: (source, importer) => {
    if (!source.startsWith("node:")) return null
    return importer?.startsWith(SLEEPING) === true ? { id: source, external: true } : `${SLEEPING}${source}`
  },
  load: (id) =>
    id.startsWith(SLEEPING) ? `module.exports = require(${JSON.stringify(id.slice(SLEEPING.length))})` : null
}

/** Libraries that few commands need, by what of them the sources import. */
const SEALED: Readonly<Record<string, string>> = {
  paying: `
    export { x402Client } from "@x402/core/client"
    export { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
    export { ExactEvmScheme } from "@x402/evm/exact/client"
    export { privateKeyToAccount } from "viem/accounts"`,
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

/** A build takes as long as the libraries that are packed: that plugins take most of it is no news. */
const checks: InputOptions["checks"] = { bundlerTimings: false }

/** A library on its own, as the text of a CommonJS module. */
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
      sleepingBuiltins
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
 * Keeps those libraries in the file as packed text, which becomes code when they are first used: Node reads all code of a
 * file before it begins, and theirs is several times as long as all the rest.
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

/** The same code in ASCII, of which Node reads a byte a character: others stand only in texts and patterns, where they can be escaped. */
const asciiOf = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * Writes the package that is published, in `folder`: one file with everything
 * in it, and its package.json. A CommonJS file, because Node starts one twice as fast as an ES module; what is
 * imported dynamically stays asleep in it until it is asked for.
 */
export const bundle = async (folder: string): Promise<void> => {
  const build = await rolldown({
    input: `${root}/src/main.ts`,
    platform: "node",
    cwd: root,
    // Wrapped in parentheses, every module would be compiled when the file is read.
    optimization: { pifeForModuleWrappers: false },
    checks,
    plugins: [sealed, sleepingBuiltins]
  })
  try {
    const [chunk] = (await build.generate({ ...output, strictExecutionOrder: true })).output
    await mkdir(folder, { recursive: true })
    await writeFile(`${folder}/agentctl.cjs`, asciiOf(chunk.code))
  } finally {
    await build.close()
  }
  await writeFile(`${folder}/package.json`, `${JSON.stringify(manifest, undefined, 2)}\n`)
}
