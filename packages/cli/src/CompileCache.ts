import * as nodeModule from "node:module"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"

/**
 * Lets Node keep the compiled program for the next run, in the cache folder of the user: a shared one would let others choose
 * the code. Where it cannot be written, the program runs without it. `NODE_COMPILE_CACHE` names another folder, and
 * `NODE_DISABLE_COMPILE_CACHE=1` turns it off. Node has it since version 22.8.
 */
export const keepCompiled = (): void => {
  const xdg = process.env["XDG_CACHE_HOME"] ?? ""
  nodeModule.enableCompileCache?.(join(isAbsolute(xdg) ? xdg : join(homedir(), ".cache"), "agentctl"))
}
