import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

/** Where Node keeps what it has compiled. That saves a third of the time that a process takes to start. */
export const compileCacheDir = fileURLToPath(new URL("../../../../node_modules/.cache/compile", import.meta.url))

/** Keeps what this process compiles from here on: its modules have to be imported after that. */
export const keepCompiled = (): void => void enableCompileCache(process.env["NODE_COMPILE_CACHE"] ?? compileCacheDir)
