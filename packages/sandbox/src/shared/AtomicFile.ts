import { readFile, rename, writeFile } from "node:fs/promises"

/**
 * Replaces a whole file. A reader, also after this process was killed, sees either the old content or the new. A power
 * failure can still lose a write that the disk had not completed. One writer per path.
 */
export const replaceFile = async (path: string, content: string | Uint8Array, mode = 0o644): Promise<void> => {
  const next = `${path}.next`
  await writeFile(next, content, { mode })
  await rename(next, path)
}

/** Returns the content of a file, or undefined if the file does not exist. */
export const readFileIfExists = async (path: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}

/** Returns the content of a file. A missing file is created first, readable by its owner only. */
export const readOrCreateFile = async (path: string, create: () => Promise<string>): Promise<string> => {
  const existing = await readFileIfExists(path)
  if (existing !== undefined) return existing.toString()
  const created = await create()
  await replaceFile(path, created, 0o600)
  return created
}
