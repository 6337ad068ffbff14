import { existsSync, readFileSync } from "node:fs"
import { copyFile, mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type OutputOptions, type Plugin, rolldown } from "rolldown"
import { OLDEST_NODE } from "../src/Version.ts"
import { asciiOf, BUILD, lazyBuiltins, sealing, thirdPartyLicenses } from "../../../release/Bundling.ts"

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
  files: ["agentctl.cjs", "program.cjs", "CHANGELOG.md", "REFERENCE.md", "THIRD_PARTY_LICENSES"],
  engines,
  sideEffects: true
}

/** Replaces the module that reads the package.json beside the sources. */
const versionText: Plugin = {
  name: "version-text",
  load: (id) =>
    id === join(root, "src/Version.ts")
      ? `export const VERSION = ${JSON.stringify(version)}\nexport const OLDEST_NODE = ${OLDEST_NODE}\nexport const RUNS_FROM_SOURCES = false`
      : null
}

/** Libraries that few commands need. */
const SEALED = {
  paying: {
    "viem/accounts": ["privateKeyToAccount"]
  },
  mcp: {
    "@modelcontextprotocol/sdk/server/index.js": ["Server"],
    "@modelcontextprotocol/sdk/server/stdio.js": ["StdioServerTransport"],
    "@modelcontextprotocol/sdk/types.js": ["CallToolRequestSchema", "ErrorCode", "ListToolsRequestSchema", "McpError"]
  },
  socket: { ws: ["WebSocket"] }
}

const output: OutputOptions = {
  format: "cjs",
  codeSplitting: false,
  dynamicImportInCjs: false,
  minify: { compress: true, mangle: true, codegen: { removeWhitespace: true } },
  comments: false
}

const PROGRAM = join(root, "src/NodeProgram.ts")

/** Keeps the program out of the file that starts it. */
const programFile: Plugin = {
  name: "program-file",
  resolveId: (source, importer) =>
    importer !== undefined && join(dirname(importer), source) === PROGRAM
      ? { id: "./program.cjs", external: true }
      : null
}

/**
 * Writes the npm package to `folder`: a file that starts, one with everything else in it, which Node keeps compiled, and
 * package.json. The files are CommonJS, because Node starts it twice as fast as ES modules. Dynamically imported modules are
 * evaluated when they are first needed.
 */
export const bundle = async (folder: string): Promise<void> => {
  const { plugin: sealed, modules } = sealing("agentctl", SEALED, { rolldown, output })
  await mkdir(folder, { recursive: true })
  const bundled = [
    ...(await write(join(folder, "agentctl.cjs"), join(root, "src/main.ts"), [programFile])),
    ...(await write(join(folder, "program.cjs"), PROGRAM, [sealed]))
  ]
  await writeFile(`${folder}/THIRD_PARTY_LICENSES`, thirdPartyLicenses([...bundled, ...modules]))
  await writeFile(`${folder}/package.json`, `${JSON.stringify(manifest, undefined, 2)}\n`)
  // There is no changelog before the first release.
  for (const file of ["README.md", "REFERENCE.md", "CHANGELOG.md"])
    if (existsSync(join(root, file))) await copyFile(join(root, file), join(folder, file))
}

/** Bundles a module into a file, and returns the modules in it. */
const write = async (file: string, input: string, plugins: ReadonlyArray<Plugin>): Promise<ReadonlyArray<string>> => {
  const build = await rolldown({
    input,
    cwd: root,
    ...BUILD,
    // Parentheses around module functions would make Node compile every module at the start.
    optimization: { pifeForModuleWrappers: false },
    plugins: [versionText, ...plugins, lazyBuiltins]
  })
  try {
    const [chunk] = (await build.generate({ ...output, strictExecutionOrder: true })).output
    await writeFile(file, asciiOf(chunk.code))
    return Object.keys(chunk.modules)
  } finally {
    await build.close()
  }
}
