import { existsSync } from "node:fs"
import { chmod, mkdtemp, rename, rm, symlink } from "node:fs/promises"
import { join } from "node:path"

/** Names the folder in which the files of one test run find the program. */
export const BUILT_VARIABLE = "TEST_AGENTCTL_BUNDLE"

/** A draft loses against one that was there first. */
const LOST: ReadonlySet<string | undefined> = new Set(["EEXIST", "ENOTEMPTY"])

let asked: Promise<string> | undefined

/**
 * The one file that is published, with a link `agentctl` beside it. It takes longer to build than most tests take:
 * the first who asks in a test run builds it. Those who ask meanwhile do so too, and the first to have it has made it
 * for all. It is never to be changed.
 */
export const builtProgram = (): Promise<string> => (asked ??= build())

const build = async (): Promise<string> => {
  const folder = process.env[BUILT_VARIABLE]
  if (folder === undefined) throw new Error("The program is built once in a test run, and this is none.")
  const program = join(folder, "npm", "agentctl.cjs")
  if (existsSync(program)) return program
  const draft = await mkdtemp(join(folder, "draft-"))
  // The bundler is loaded by those who need it.
  const { bundle } = await import("../../build/Bundle.ts")
  await bundle(draft)
  // As an installation puts it into the path.
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
