import { readFile, rename, writeFile } from "node:fs/promises"

/**
 * Puts a whole file in place of the one before, so that a reader, and a process that is killed half-way, sees either
 * the old content or the new. (It outlives processes; a power cut may still lose what the disk had not taken yet.)
 * One writer per path.
 */
export const replaceFile = async (path: string, content: string | Uint8Array, mode = 0o644): Promise<void> => {
  const next = `${path}.next`
  await writeFile(next, content, { mode })
  await rename(next, path)
}

/** The content of a file, or undefined where there is none. */
export const readFileIfAny = async (path: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}
