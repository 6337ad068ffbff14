import { readFileSync } from "node:fs"
import { replaceFile } from "./AtomicFile.ts"

/** Returns how far the time of a sandbox is ahead of that of this machine, in milliseconds; 0 if it was never moved. */
export const readOffset = (file: string): number => {
  try {
    const { offsetMillis } = JSON.parse(readFileSync(file, "utf8")) as { readonly offsetMillis: number }
    return offsetMillis
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return 0
    throw error
  }
}

export const writeOffset = (file: string, offsetMillis: number): Promise<void> =>
  replaceFile(file, `${JSON.stringify({ offsetMillis })}\n`)
