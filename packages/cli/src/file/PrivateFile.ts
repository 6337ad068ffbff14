import { errorCode, Failure, shellWord } from "@agentos/command-line"
import { randomUUID } from "node:crypto"
import { chmod, link, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type { Host } from "../host/Host.ts"
import { parseJson } from "./Json.ts"

const FILE_LIMIT_BYTES = 4 * 1024 * 1024

const isMissing = (error: unknown): boolean => errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR"

/** Turns a system error into a failure that names the file, which system errors do not always do. */
export const fileFailure = (path: string, action: "read" | "write", error: unknown): unknown => {
  if (errorCode(error) === undefined || !(error instanceof Error)) return error
  const [reason] = error.message.split(",")
  return new Failure({ code: "FAILED", message: `Cannot ${action} ${path} (${reason}).` })
}

/** Creates a folder, and its parents, with mode 0700. */
export const privateFolder = async (path: string): Promise<void> => {
  try {
    const created = await mkdir(path, { recursive: true, mode: 0o700 })
    if (created === undefined && process.platform !== "win32") await chmod(path, 0o700)
  } catch (error) {
    throw fileFailure(path, "write", error)
  }
}

/**
 * Writes a whole file with mode 0600. Readers see either the old content or the new, whatever happens meanwhile, and
 * the new content is on disk when this returns. With `onlyNew`, fails with EEXIST if the file exists.
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
      // link fails if the name exists; rename replaces it.
      await (options.onlyNew === true ? link(temporary, path) : rename(temporary, path))
    } finally {
      await rm(temporary, { force: true })
    }
    await syncFolder(dirname(path))
  } catch (error) {
    throw errorCode(error) === "EEXIST" ? error : fileFailure(path, "write", error)
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

/** Puts a new name on disk. Windows cannot open a folder, and does not need this. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return
  const folder = await open(path, "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Reads a text file; undefined if it does not exist. */
export const readIfExists = async (path: string, limitBytes = FILE_LIMIT_BYTES): Promise<string | undefined> => {
  try {
    const { size } = await stat(path)
    if (size > limitBytes)
      throw new Failure({ code: "CONFIGURATION", message: `${path} is larger than ${limitBytes / 1_048_576} MiB.` })
    return await readFile(path, "utf8")
  } catch (error) {
    if (isMissing(error)) return undefined
    throw fileFailure(path, "read", error)
  }
}

/** Reads the text file that the user named; - is standard input. Fails if it does not exist. */
export const readGiven = async (
  { readStdin, workingDirectory }: Pick<Host, "readStdin" | "workingDirectory">,
  file: string
): Promise<string> => {
  const text = file === "-" ? await readStdin() : await readIfExists(resolve(workingDirectory, file))
  if (text !== undefined) return text
  throw new Failure({ code: "NOT_FOUND", message: `File ${file} does not exist.` })
}

/** Rejects a file with a secret that other users of this machine can read. */
export const requirePrivate = async (path: string): Promise<void> => {
  const { mode } = await stat(path)
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw new Failure({
      code: "CONFIGURATION",
      message: `${path} contains a secret, but other users can read it (mode ${(mode & 0o777).toString(8)}).`,
      next: [`chmod 600 ${shellWord(path)}`]
    })
}

/** Reads a JSON file; undefined if it does not exist. Throws a failure that names the file if it is not JSON. */
export const readJsonIfExists = async (
  path: string,
  advice = "Fix it or delete it.",
  limitBytes = FILE_LIMIT_BYTES
): Promise<unknown> => {
  const text = await readIfExists(path, limitBytes)
  if (text === undefined) return undefined
  const value = parseJson(text)
  if (value !== undefined) return value
  throw new Failure({ code: "CONFIGURATION", message: `${path} is not valid JSON. ${advice}` })
}
