import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

/** The directory of Node's compile cache, which saves a third of the start time of a process. */
export const compileCacheDir = fileURLToPath(new URL("../../../../node_modules/.cache/compile", import.meta.url))

/** Caches the modules that this process imports after the call. */
export const useCompileCache = (): void => void enableCompileCache(process.env["NODE_COMPILE_CACHE"] ?? compileCacheDir)
