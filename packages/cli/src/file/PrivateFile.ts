import { errorCode, Failure, shellWord } from "@agentos/node/command-line"
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { chmod, type FileHandle, link, mkdir, open, rename, rm, stat } from "node:fs/promises"
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

/** The content of a file up to a limit; undefined if it has more. */
const readUpTo = async (file: FileHandle, limitBytes: number): Promise<Buffer | undefined> => {
  const pieces: Array<Buffer> = []
  let sizeBytes = 0
  for await (const piece of file.createReadStream()) {
    sizeBytes += piece.length
    if (sizeBytes > limitBytes) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/**
 * Reads a regular file; undefined if it does not exist. A device or a pipe at the path is refused and not waited for, because
 * another account may have put it there.
 */
export const readIfExists = async (path: string, limitBytes = FILE_LIMIT_BYTES): Promise<string | undefined> => {
  const content = await readUnlessMissing(path, { limitBytes, isPipeAllowed: false })
  return content?.toString()
}

/**
 * Reads a file that the user named, which may be a pipe, such as that of a shell's `<(…)`; undefined if it does not exist.
 * `tooLarge` is thrown if it has more bytes than the limit.
 */
export const readNamed = (
  path: string,
  limitBytes = FILE_LIMIT_BYTES,
  tooLarge?: () => Failure
): Promise<Buffer | undefined> => readUnlessMissing(path, { limitBytes, isPipeAllowed: true, tooLarge })

interface Reading {
  readonly limitBytes: number
  readonly isPipeAllowed: boolean
  readonly tooLarge?: (() => Failure) | undefined
}

const readUnlessMissing = async (
  path: string,
  { isPipeAllowed, limitBytes, tooLarge }: Reading
): Promise<Buffer | undefined> => {
  try {
    // Without O_NONBLOCK, opening a pipe waits for its writer. Windows has neither.
    const file = await open(path, constants.O_RDONLY | (isPipeAllowed ? 0 : (constants.O_NONBLOCK ?? 0)))
    try {
      const status = await file.stat()
      if (!isPipeAllowed && !status.isFile() && !status.isDirectory())
        throw new Failure({ code: "CONFIGURATION", message: `${path} is not a regular file.` })
      const content = await readUpTo(file, limitBytes)
      if (content !== undefined) return content
      throw (
        tooLarge?.() ??
        new Failure({ code: "CONFIGURATION", message: `${path} is larger than ${limitBytes / 1_048_576} MiB.` })
      )
    } finally {
      await file.close()
    }
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
  const text = file === "-" ? await readStdin() : (await readNamed(resolve(workingDirectory, file)))?.toString()
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
