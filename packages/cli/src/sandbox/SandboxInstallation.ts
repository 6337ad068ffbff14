import { Failure, messageOf } from "@agentos/node/command-line"
import { spawn } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { homeFolder } from "../config/ConfigFile.ts"
import type { Context } from "../context/Context.ts"
import { childEnvironment } from "../host/Host.ts"
import { askYesNo, canAsk } from "../payment/Approval.ts"
import { VERSION } from "../Version.ts"

const PACKAGE = `@agentos/sandbox@${VERSION}`
const SIZE = "about 300 MB with its libraries, a chain and a database"
/** The part of npm's error output that a failure shows. */
const ERROR_CHARS = 2_000

export interface SandboxProgram {
  readonly node: string
  readonly main: string
  /** The working directory of the process. */
  readonly folder: string
}

const MAIN_IN_REPOSITORY = join("packages", "sandbox", "src", "main.ts")

/** Finds the repository in the current folder, the folders above it, or the folders above this program. */
const findRepository = ({ host }: Context): string | undefined => {
  const program = process.argv[1]
  for (const begin of [host.workingDirectory, ...(program === undefined ? [] : [dirname(realpathSync(program))])])
    for (let folder = begin; ; folder = dirname(folder)) {
      if (existsSync(join(folder, MAIN_IN_REPOSITORY))) return folder
      if (dirname(folder) === folder) break
    }
  return undefined
}

const sandboxFolder = ({ host }: Context): string => join(homeFolder(host), "sandbox")

/** Returns the data folder of the sandbox that runs without --data. */
export const defaultDataFolder = (context: Context): string => {
  const root = findRepository(context)
  return root === undefined ? join(sandboxFolder(context), "data") : join(root, ".agentos")
}

/** Returns the sandbox of the repository, or else the installed one, which it installs on the first use. */
export const openProgram = async (context: Context, yes: boolean): Promise<SandboxProgram> => {
  const root = findRepository(context)
  if (root !== undefined) {
    // The repository installs a Node that runs TypeScript.
    const own = join(root, "node_modules", ".bin", "node")
    return { node: existsSync(own) ? own : process.execPath, main: join(root, MAIN_IN_REPOSITORY), folder: root }
  }
  const folder = join(sandboxFolder(context), VERSION)
  const main = join(folder, "node_modules", "@agentos", "sandbox", "dist", "main.js")
  if (!existsSync(main)) {
    await allowInstallation(context, folder, yes)
    await install(context, folder)
  }
  return { node: process.execPath, main, folder }
}

const allowInstallation = async (context: Context, folder: string, yes: boolean): Promise<void> => {
  if (yes) return
  if (!canAsk(context))
    throw new Failure({
      code: "NOT_FOUND",
      message: `The sandbox is not installed. It is a package of its own, ${PACKAGE} (${SIZE}).`,
      next: ["agentctl dev --data /path/to/agentos/.agentos", "agentctl dev --yes"]
    })
  await askYesNo(context, `Install ${PACKAGE} (${SIZE}) in ${folder}?`)
}

/** Installs the package with npm, in another folder first, so that an existing folder is complete. */
const install = async (context: Context, folder: string): Promise<void> => {
  const parent = dirname(folder)
  await mkdir(parent, { recursive: true, mode: 0o700 })
  const draft = await mkdtemp(join(parent, "draft-"))
  try {
    context.output.note(`Installing ${PACKAGE}.`)
    await runNpm(context, ["install", "--prefix", draft, "--no-audit", "--no-fund", "--loglevel=error", PACKAGE])
    // Another agentctl may have installed it meanwhile.
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

const runNpm = ({ host }: Context, parameters: ReadonlyArray<string>): Promise<void> =>
  new Promise((resolve, reject) => {
    const npm = spawn("npm", parameters, {
      env: childEnvironment(host),
      stdio: ["ignore", "ignore", "pipe"],
      signal: host.signal,
      // A command file on Windows.
      shell: process.platform === "win32"
    })
    let errors = ""
    npm.stderr.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-ERROR_CHARS)))
    const fail = (reason: string): void =>
      reject(
        new Failure({
          code: "FAILED",
          message: `npm could not install ${PACKAGE}: ${reason.trim()}`,
          next: ["agentctl dev --data /path/to/agentos/.agentos"]
        })
      )
    npm.once("error", (error) => fail(messageOf(error)))
    npm.once("close", (code) => (code === 0 ? resolve() : fail(errors || `exit code ${code}`)))
  })
