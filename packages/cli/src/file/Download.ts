import { errorCode, Failure } from "@agentos/node/command-line"
import { mkdir, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileFailure } from "./PrivateFile.ts"

/** File systems allow 255 bytes. The rest is for the number of a second file with the same name. */
const NAME_LIMIT_BYTES = 240
const EXTENSION_LIMIT_BYTES = 20
/** The longest name that the service returns has 255 characters. */
const NAME_CHARACTERS = 1_000

/** Control, invisible and unassigned characters, and those with a meaning in a path on any system. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}/\\:*?"<>|]/gu
/** Names of devices on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

/** Cuts a text to a number of UTF-8 bytes, without splitting a character. */
const cut = (text: string, limitBytes: number): string => {
  let kept = ""
  let length = 0
  for (const character of text) {
    length += Buffer.byteLength(character)
    if (length > limitBytes) break
    kept += character
  }
  return kept
}

/** Splits a name before its extension, which includes the dot. */
const splitName = (name: string): readonly [stem: string, extension: string] => {
  const dot = name.lastIndexOf(".")
  const isExtension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= EXTENSION_LIMIT_BYTES
  return isExtension ? [name.slice(0, dot), name.slice(dot)] : [name, ""]
}

/**
 * Returns a name that a stranger chose as a file name: without a path, a leading dot, and control or invisible characters.
 * At most 240 bytes.
 */
export const safeFileName = (name: string | null): string => {
  // Cut first: trimming takes time in the square of the length.
  const visible = (name ?? "")
    .slice(0, NAME_CHARACTERS)
    .replaceAll(UNSAFE, "_")
    .replace(/^[.\s]+|[.\s]+$/gu, "")
  const [stem, extension] = splitName(visible.replace(DEVICE, "_$&"))
  return `${cut(stem, NAME_LIMIT_BYTES - Buffer.byteLength(extension)).trimEnd()}${extension}` || "attachment"
}

/** Returns safe names for the files of one folder. Equal names are numbered, also on file systems without case. */
export const distinctFileNames = (names: ReadonlyArray<string | null>): ReadonlyArray<string> => {
  const taken = new Set<string>()
  return names.map((name) => {
    const safe = safeFileName(name)
    const [stem, extension] = splitName(safe)
    let distinct = safe
    for (let number = 2; taken.has(keyOf(distinct)); number++) distinct = `${stem} (${number})${extension}`
    taken.add(keyOf(distinct))
    return distinct
  })
}

const keyOf = (name: string): string => name.normalize("NFC").toLowerCase()

/** Creates a folder, and its parents, if it does not exist. */
export const createFolder = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw fileFailure(path, "write", error)
  })
}

const existing = (path: string): Failure =>
  new Failure({ code: "EXISTS", message: `File ${path} already exists. Use --clobber to overwrite it.` })

/** Fails if one of the files exists, unless it may be overwritten. */
export const checkFree = async (folder: string, names: ReadonlyArray<string>, clobber: boolean): Promise<void> => {
  if (clobber) return
  for (const name of names) {
    const path = join(folder, name)
    if (
      await stat(path).then(
        () => true,
        () => false
      )
    )
      throw existing(path)
  }
}

/** Writes a new file; with `clobber`, replaces the content of an existing one. A new file is deleted if it is not whole. */
export const writeDownload = async (path: string, bytes: Uint8Array, clobber: boolean): Promise<void> => {
  try {
    await writeFile(path, bytes, { flag: clobber ? "w" : "wx", flush: true })
  } catch (error) {
    if (errorCode(error) === "EEXIST") throw existing(path)
    if (!clobber) await rm(path, { force: true })
    throw fileFailure(path, "write", error)
  }
}
