import { randomUUID } from "node:crypto"
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Failure } from "../failure/Failure.ts"
import { shellWord } from "../output/ShellWord.ts"

const FILE_LIMIT_BYTES = 4 * 1024 * 1024

const isMissing = (error: unknown): boolean => errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR"

/** The system's code of an error, as ENOENT. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

/** What went wrong with a file, in the system's words: which file it was, only some of its errors say. */
export const fileFailure = (path: string, what: "read" | "written", error: unknown): unknown => {
  if (errorCode(error) === undefined || !(error instanceof Error)) return error
  const [why] = error.message.split(",")
  return new Failure({ code: "FAILED", message: `${path} can't be ${what} (${why}).` })
}

/** Makes a folder, and those above it, that only the owner may enter. */
export const privateFolder = async (path: string): Promise<void> => {
  try {
    const made = await mkdir(path, { recursive: true, mode: 0o700 })
    if (made === undefined && process.platform !== "win32") await chmod(path, 0o700)
  } catch (error) {
    throw fileFailure(path, "written", error)
  }
}

/**
 * Writes a whole file with mode 0600: whatever happens meanwhile, a reader sees the old one (or none) or the new one, and
 * once this returns the new one is on disk. With `onlyNew`, fails with EEXIST where there is one already.
 */
export const writePrivate = async (
  path: string,
  text: string,
  options: { readonly onlyNew?: boolean } = {}
): Promise<void> => {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    try {
      await writeWhole(temporary, text)
      // A second name fails where there is a file of that name already; a new name takes its place.
      await (options.onlyNew === true ? link(temporary, path) : rename(temporary, path))
    } finally {
      await rm(temporary, { force: true })
    }
    await syncFolder(dirname(path))
  } catch (error) {
    throw errorCode(error) === "EEXIST" ? error : fileFailure(path, "written", error)
  }
}

const writeWhole = async (path: string, text: string): Promise<void> => {
  const file = await open(path, "wx", 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A name is on disk once its folder is. */
const syncFolder = async (path: string): Promise<void> => {
  // Windows has no handle of a folder, and needs none.
  if (process.platform === "win32") return
  const folder = await open(path, "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The text of a file; undefined where there is none. */
export const readIfAny = async (path: string): Promise<string | undefined> => {
  try {
    const { size } = await stat(path)
    if (size > FILE_LIMIT_BYTES) throw new Failure({ code: "CONFIGURATION", message: `${path} is longer than 4 MiB.` })
    return await readFile(path, "utf8")
  } catch (error) {
    if (isMissing(error)) return undefined
    throw fileFailure(path, "read", error)
  }
}

/** Refuses a file with a secret in it that others on this machine may read. */
export const requirePrivate = async (path: string): Promise<void> => {
  const { mode } = await stat(path)
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw new Failure({
      code: "CONFIGURATION",
      message: `${path} holds a secret, and others on this machine may read it (mode ${(mode & 0o777).toString(8)}).`,
      next: [`chmod 600 ${shellWord(path)}`]
    })
}

/** What a JSON file says; undefined where there is none. Throws a Failure that names the file where it is not JSON. */
export const readJsonIfAny = async (path: string, whatToDo = "Mend it, or remove it."): Promise<unknown> => {
  const text = await readIfAny(path)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Failure({ code: "CONFIGURATION", message: `${path} is not JSON. ${whatToDo}` })
  }
}
