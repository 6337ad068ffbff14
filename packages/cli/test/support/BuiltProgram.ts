import { existsSync } from "node:fs"
import { chmod, mkdtemp, rename, rm, symlink } from "node:fs/promises"
import { join } from "node:path"

/** Names the folder with the built program of a test run. */
export const BUILT_VARIABLE = "TEST_AGENTCTL_BUNDLE"

/**
 * The environment variable with the compile cache of Node, for processes that do not inherit the environment. Compiling
 * the published file takes a third of the processor time of a short command.
 */
export const compileCache = (): Readonly<Record<string, string>> => {
  const folder = process.env["NODE_COMPILE_CACHE"]
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}

/** Errors of a rename onto an existing folder. */
const LOST: ReadonlySet<string | undefined> = new Set(["EEXIST", "ENOTEMPTY"])

let asked: Promise<string> | undefined

/**
 * Builds the published file once per test run, with a link `agentctl` beside it. Test files that ask concurrently may
 * build it too; the first result is kept and shared. Tests must not change it.
 */
export const builtProgram = (): Promise<string> => (asked ??= build())

const build = async (): Promise<string> => {
  const folder = process.env[BUILT_VARIABLE]
  if (folder === undefined) throw new Error(`${BUILT_VARIABLE} is not set: only a test run builds the program.`)
  const program = join(folder, "npm", "agentctl.cjs")
  if (existsSync(program)) return program
  const draft = await mkdtemp(join(folder, "draft-"))
  // Only a build loads the bundler.
  const { bundle } = await import("../../build/Bundle.ts")
  await bundle(draft)
  // Like an installation into the PATH.
  await chmod(join(draft, "agentctl.cjs"), 0o755)
  await symlink("agentctl.cjs", join(draft, "agentctl"))
  try {
    await rename(draft, join(folder, "npm"))
  } catch (error) {
    if (!LOST.has((error as NodeJS.ErrnoException).code)) throw error
    await rm(draft, { recursive: true })
  }
  return program
}
