import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { rolldown } from "rolldown"
import { userEnvironment } from "../../packed/Installation.ts"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))
const run = promisify(execFile)

/** The frameworks, which are not dependencies of this repository because of their size. */
const FOLDERS = {
  latest: {
    "@ai-sdk/anthropic": "4.0.105",
    "@ai-sdk/google": "4.0.121",
    "@ai-sdk/mistral": "4.0.87",
    "@ai-sdk/openai": "4.0.118",
    "@anthropic-ai/sdk": "1.14.0",
    "@google/genai": "3.3.0",
    "@langchain/core": "1.4.0",
    "@langchain/openai": "1.6.0",
    "@mastra/core": "1.71.0",
    "@mistralai/mistralai": "2.7.0",
    "@modelcontextprotocol/client": "2.4.0",
    "@modelcontextprotocol/inspector": "2.12.0",
    "@modelcontextprotocol/sdk": "1.32.2",
    "@openai/agents": "0.20.0",
    ai: "7.0.173",
    mcporter: "0.12.3",
    openai: "7.59.0",
    viem: "2.57.1"
  },
  "ai-6": {
    "@ai-sdk/anthropic": "3.0.140",
    "@ai-sdk/google": "3.0.141",
    "@ai-sdk/openai": "3.0.141",
    ai: "6.0.325",
    viem: "2.57.1",
    zod: "4.6.7"
  }
} as const

export type FolderName = keyof typeof FOLDERS

/** An installation takes half a minute. */
const INSTALL_MILLIS = 240_000
const RUN_MILLIS = 60_000

/** The entries of the tools and of the client, as a user imports them. */
const ENTRIES = {
  client: "packages/client/src/index.ts",
  tools: "packages/tools/src/index.ts",
  "ai-sdk": "packages/tools/src/adapter/AiSdk.ts",
  langchain: "packages/tools/src/adapter/LangChain.ts"
}

const bundleTools = async (dir: string): Promise<void> => {
  const input = Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(ROOT, path)]))
  const build = await rolldown({ input, external: /^(?:ai$|@langchain\/core|viem)/, platform: "neutral" })
  await build.write({ dir, format: "esm" })
  await build.close()
}

/** Folders in which a user has installed the frameworks beside the tools. */
export interface FrameworkFolders {
  /** Returns the installed version of a package. */
  readonly version: (folder: FolderName, name: string) => string
  readonly path: (folder: FolderName, name: string) => string
  /** Writes a program and runs it to its end. Rejects with its output if it fails. */
  readonly runProgram: (
    folder: FolderName,
    text: string,
    env: Readonly<Record<string, string>>
  ) => Promise<{ readonly stdout: string }>
  /** Runs a program that a package installed. */
  readonly run: (
    name: string,
    parameters: ReadonlyArray<string>,
    env: Readonly<Record<string, string>>
  ) => Promise<{ readonly stdout: string }>
  readonly remove: () => void
}

/** Installs the frameworks. Throws if a registry cannot be reached. */
export const installFrameworks = async (): Promise<FrameworkFolders> => {
  const root = mkdtempSync(join(tmpdir(), "agentos-frameworks-"))
  const remove = () => rmSync(root, { recursive: true, force: true })
  const path = (folder: FolderName, name: string) => join(root, folder, name)
  try {
    for (const [folder, dependencies] of Object.entries(FOLDERS) as ReadonlyArray<[FolderName, object]>) {
      mkdirSync(path(folder, "."), { recursive: true })
      writeFileSync(path(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }))
      const options = ["--no-audit", "--no-fund", "--prefer-offline", "--legacy-peer-deps", "--ignore-scripts"]
      const cwd = path(folder, ".")
      await run("npm", ["install", ...options], { cwd, timeout: INSTALL_MILLIS, env: userEnvironment() })
      await bundleTools(path(folder, "agentos"))
    }
  } catch (error) {
    remove()
    throw error
  }
  let programs = 0
  return {
    path,
    version: (folder, name) => {
      const text = readFileSync(path(folder, `node_modules/${name}/package.json`), "utf8")
      return (JSON.parse(text) as { readonly version: string }).version
    },
    runProgram: (folder, text, env) => {
      const file = path(folder, `program-${++programs}.mjs`)
      writeFileSync(file, text)
      return run(process.execPath, [file], {
        cwd: path(folder, "."),
        timeout: RUN_MILLIS,
        env: { ...userEnvironment(), ...env }
      })
    },
    run: (name, parameters, env) =>
      run(path("latest", `node_modules/.bin/${name}`), parameters, {
        cwd: path("latest", "."),
        timeout: RUN_MILLIS,
        env: { ...userEnvironment(), ...env }
      }),
    remove
  }
}
