import { existsSync, mkdirSync } from "node:fs"
import * as nodeModule from "node:module"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"

/** Returns the folder of agentctl in the cache folder of the user; undefined if neither is an absolute path. */
const cacheFolder = (): string | undefined => {
  const xdg = process.env["XDG_CACHE_HOME"] ?? ""
  const folder = isAbsolute(xdg) ? xdg : join(homedir(), ".cache")
  return isAbsolute(folder) ? join(folder, "agentctl") : undefined
}

/**
 * Lets Node keep the compiled program for the next run, in the cache folder of the user: a shared one, or one of the current
 * folder, would let others choose the code. `NODE_COMPILE_CACHE` names another folder, and `NODE_DISABLE_COMPILE_CACHE=1` turns
 * it off. Node has it since version 22.8.
 */
export const keepCompiled = (): void => {
  try {
    const folder = cacheFolder()
    if (folder === undefined) return
    // One folder at a time: Node's own attempt to create all of them does not end where none can be created, as below /proc.
    for (const path of [dirname(folder), folder]) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
    nodeModule.enableCompileCache?.(folder)
  } catch {
    // The user has no home, or it can't be written. The program is compiled for this run alone.
  }
}
